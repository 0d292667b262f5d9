/* SPDX-License-Identifier: BSD-2-Clause */
/* The totals of all accounts; processes that change theirs; accounts that are closed. */
#ifndef TRACK_ACCOUNTS_H
#define TRACK_ACCOUNTS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct bpf_map;
struct bpfmon;

struct accounts {
	struct account_key *keys; /* owned; in no order */
	struct account *totals;   /* owned; of the account at the same index */
	size_t nr;
};

static inline bool account_key_is(const struct account_key *a, const struct account_key *b)
{
	return a->tree == b->tree && a->cgroup == b->cgroup;
}

/* Room for as many as the kernel may hold. -ENOMEM. */
int accounts_init(struct accounts *a);
void accounts_done(struct accounts *a);
/* Reads all accounts of @map. A negative errno: what was read so far is there. */
int accounts_read(struct accounts *a, const struct bpf_map *map);
/* Adds @part to @sum, field by field. */
void account_add(struct account *sum, const struct account *part);
/*
 * The kernel goes on counting while an account is copied, field by field. What must agree is made
 * from one of its parts, each of which only grows.
 */
void account_untear(struct account *a);

/*
 * Moves the process @pid, with what it uses from now on, to the account @to, which is made if it is
 * new. The processes that it has made already stay where they are. -ESRCH: no such process is
 * followed; -ENOSPC: there is no room for another account.
 */
int accounts_move(struct bpfmon *skel, pid_t pid, const struct account_key *to);
/*
 * Closes the account @from: calls @record for each process that it still has, which are of the
 * account @to from then on. Its totals do not change any more: they are the sum of its records,
 * those in the ring buffer included. -EAGAIN: a process is ending on another CPU just now, and its
 * record is not in the ring buffer yet: to be called once more.
 */
int accounts_retire(struct bpfmon *skel, const struct account_key *from,
		    const struct account_key *to,
		    void (*record)(void *context, const struct process_record *r), void *context);
/* Forgets an account that has no processes any more. */
void accounts_forget(const struct bpf_map *map, const struct account_key *key);

#endif

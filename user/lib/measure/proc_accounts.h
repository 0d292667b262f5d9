/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts of processes that are seen in /proc: what those in it have used with the children that
 * they have waited for, and what is kept of those that were in it. The kernel adds the usage of a
 * child to that of the parent that waits for it: where both were seen, it is taken out there again.
 */
#ifndef MEASURE_PROC_ACCOUNTS_H
#define MEASURE_PROC_ACCOUNTS_H

#include "measure/accounts.h"
#include "measure/proc_member.h"

struct proc_account {
	struct account_key key;
	struct proc_used kept; /* modulo 2^64; with what its members have used it is what counts */
	struct proc_used live; /* that sum, as of the last publication */
	struct account total;  /* as it was published last */
};

struct proc_accounts {
	struct proc_account *all; /* owned; in the order in which they were added */
	size_t nr, room;
};

/* -ENOMEM; or -ENOSPC: there are MAX_ACCOUNTS. */
int proc_accounts_add(struct proc_accounts *a, const struct account_key *key);
/* NULL: there is none. */
struct proc_account *proc_accounts_find(const struct proc_accounts *a,
					const struct account_key *key);
void proc_accounts_remove(struct proc_accounts *a, struct proc_account *gone);
void proc_accounts_done(struct proc_accounts *a);

/* The member leaves its account for @to: what it has used so far stays. */
void proc_accounts_move(const struct proc_accounts *a, struct proc_member *m,
			const struct account_key *to);
/* What it has used so far does not count. */
void proc_accounts_forget(const struct proc_accounts *a, const struct proc_member *m);

/* A look begins: what each may have got from children is noted. */
void proc_accounts_begin(const struct proc_members *all);
/*
 * After a look: what those used that it has not met is kept, and is taken from what the processes
 * that may have waited for them have grown by since.
 */
void proc_accounts_settle(const struct proc_accounts *a, const struct proc_members *all,
			  uint64_t look);
/* Publishes the totals. */
void proc_accounts_total(const struct proc_accounts *a, const struct proc_members *all);

#endif

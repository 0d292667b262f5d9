/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts of processes that are measured from /proc: what their present members, including
 * children they have waited for, and former members have used. The kernel adds a child's usage to
 * the parent that waits for it; where both were seen, that is subtracted again.
 */
#ifndef MEASURE_PROC_ACCOUNTS_H
#define MEASURE_PROC_ACCOUNTS_H

#include "measure/accounts.h"
#include "measure/proc_member.h"

struct proc_account {
	struct account_key key;
	struct proc_used kept; /* modulo 2^64; kept + usage of the members is the total */
	struct proc_used live; /* that total at the last publication */
	struct account total;  /* as published last */
};

struct proc_accounts {
	struct proc_account *all; /* owned; in order of addition */
	size_t nr, room;
};

/* Returns 0, -ENOMEM, or -ENOSPC if there are MAX_ACCOUNTS. */
int proc_accounts_add(struct proc_accounts *a, const struct account_key *key);
/* Returns NULL if there is none. */
struct proc_account *proc_accounts_find(const struct proc_accounts *a,
					const struct account_key *key);
void proc_accounts_remove(struct proc_accounts *a, struct proc_account *gone);
void proc_accounts_done(struct proc_accounts *a);

/* Moves @m to the account @to. What it has used so far stays in its old account. */
void proc_accounts_move(const struct proc_accounts *a, struct proc_member *m,
			const struct account_key *to);
/* Excludes what @m has used so far from its account. */
void proc_accounts_forget(const struct proc_accounts *a, const struct proc_member *m);

/* Call before a scan: stores what each member has inherited from children so far. */
void proc_accounts_begin(const struct proc_members *all);
/*
 * Call after a scan: keeps what members that it did not find have used, and subtracts that from the
 * members that have inherited it since.
 */
void proc_accounts_settle(const struct proc_accounts *a, const struct proc_members *all,
			  uint64_t look);
void proc_accounts_total(const struct proc_accounts *a, const struct proc_members *all);

#endif

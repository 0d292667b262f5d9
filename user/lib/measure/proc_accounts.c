// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_accounts.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int proc_accounts_add(struct proc_accounts *a, const struct account_key *key)
{
	size_t room = a->room ? a->room * 2 : 4;
	struct proc_account *all = a->all;

	if (a->nr == MAX_ACCOUNTS)
		return -ENOSPC;
	if (a->nr == a->room) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		a->all = all;
		a->room = room;
	}
	a->all[a->nr++] = (struct proc_account){ .key = *key };
	return 0;
}

struct proc_account *proc_accounts_find(const struct proc_accounts *a,
					const struct account_key *key)
{
	for (size_t i = a->nr; i--;) /* newest first: the most frequent */
		if (!account_key_compare(&a->all[i].key, key))
			return &a->all[i];
	return NULL;
}

void proc_accounts_remove(struct proc_accounts *a, struct proc_account *gone)
{
	size_t at = (size_t)(gone - a->all);

	a->nr--;
	memmove(gone, gone + 1, (a->nr - at) * sizeof(*gone));
}

void proc_accounts_done(struct proc_accounts *a)
{
	free(a->all);
	*a = (struct proc_accounts){ 0 };
}

static struct proc_account *account_of_member(const struct proc_accounts *a,
					      const struct proc_member *m)
{
	return proc_accounts_find(a, &m->rec.account);
}

static void account_keep(struct proc_account *a, const struct proc_used *used)
{
	if (a)
		proc_used_add(&a->kept, used);
}

static void account_take_out(struct proc_account *a, const struct proc_used *used)
{
	if (a)
		proc_used_subtract(&a->kept, used);
}

void proc_accounts_move(const struct proc_accounts *a, struct proc_member *m,
			const struct account_key *to)
{
	struct proc_account *from = account_of_member(a, m), *into = proc_accounts_find(a, to);
	const struct proc_used used = proc_member_both(m);

	account_keep(from, &used);
	account_take_out(into, &used);
	if (from)
		from->total.moved_out++;
	if (into)
		into->total.moved_in++;
	m->rec.account = m->row.account = *to;
}

void proc_accounts_forget(const struct proc_accounts *a, const struct proc_member *m)
{
	const struct proc_used used = proc_member_both(m);

	account_take_out(account_of_member(a, m), &used);
}

void proc_accounts_begin(const struct proc_members *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct proc_member *m = all->all[i];

		m->earlier = proc_member_inherited(m);
		proc_used_add(&m->earlier, &m->paid);
		m->paid = (struct proc_used){ 0 };
	}
}

/*
 * Computes what @m has inherited between the last scan of its children and now. Reads it again:
 * this scan read it before the children ended.
 */
static int growth_read(const struct proc_member *m, struct proc_used *growth)
{
	struct proc_member now = { .io = m->io };
	struct proc_io io;
	int err = proc_stat_read(m->files.pid, &now.stat);

	if (!err && now.stat.start_ns != m->stat.start_ns)
		err = -ESRCH;
	if (err)
		return err;
	if (!proc_io_read(m->files.pid, &io))
		now.io = io;
	*growth = proc_member_inherited(&now);
	proc_used_take(growth, &m->earlier);
	return 0;
}

/*
 * From youngest to oldest: what a process cannot have inherited goes on to its parent, which may
 * have reaped it as subreaper.
 */
void proc_accounts_settle(const struct proc_accounts *a, const struct proc_members *all,
			  uint64_t look)
{
	for (size_t i = all->nr; i--;) {
		struct proc_member *m = all->all[i], *parent;
		struct proc_used both, growth, grown, got;

		if (m->look == look && proc_used_is_zero(&m->debt))
			continue;
		if (m->look == look && !growth_read(m, &growth)) {
			got = proc_used_least(&m->debt, &growth);
			account_take_out(account_of_member(a, m), &got);
			proc_used_subtract(&m->debt, &got);
			m->paid = got;
			grown = proc_member_inherited(m);
			proc_used_take(&grown, &m->earlier);
			proc_used_take(&m->paid, &grown);
		} else if (m->look != look) {
			both = proc_member_both(m);
			account_keep(account_of_member(a, m), &both);
			proc_used_add(&m->debt, &both);
		}
		parent = proc_members_find(all, m->stat.parent);
		if (parent && parent != m)
			proc_used_add(&parent->debt, &m->debt);
		m->debt = (struct proc_used){ 0 };
	}
}

void proc_accounts_total(const struct proc_accounts *a, const struct proc_members *all)
{
	struct proc_account *of;

	for (size_t i = 0; i < a->nr; i++) {
		a->all[i].total.threads = 0;
		a->all[i].live = a->all[i].kept;
	}
	for (size_t i = 0; i < all->nr; i++) {
		const struct proc_used used = proc_member_both(all->all[i]);

		of = account_of_member(a, all->all[i]);
		if (!of)
			continue;
		proc_used_add(&of->live, &used);
		of->total.threads += all->all[i]->stat.threads;
	}
	for (size_t i = 0; i < a->nr; i++)
		proc_used_publish(&a->all[i].live, &a->all[i].total);
}

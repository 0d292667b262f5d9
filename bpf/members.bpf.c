// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Decides whether a task that has no entry is to be followed. */
#include "bpfmon.bpf.h"

static __always_inline bool account_of(struct task_entry *t, struct account_key *account,
				       u64 *image)
{
	struct process_entry *p = process_of(t);

	if (!p || !p->event.rec.signal) /* another CPU still fills it in */
		return false;
	*account = process_account(p);
	*image = p->event.rec.image;
	return true;
}

/*
 * @task, which has no entry, is to be followed if its process or its parent is, or its cgroup. The
 * pointer to its parent may dangle (a parent can be freed before @task): a task that is there now
 * was born later, and is not the parent.
 */
__hidden enum ours task_is_ours(struct task_struct *task, struct account_key *account, u64 *image)
{
	struct task_struct *parent;
	struct task_entry *t;
	u64 signal = (u64)BPF_CORE_READ(task, signal);
	struct process_entry *p = process_find(signal, process_serial(task));

	if (by_cgroup && (!cgroup_has((u64)task) || task_is_own((u64)task)))
		return NOT_OURS;
	if (p && p->event.rec.signal) {
		*account = process_account(p);
		*image = p->event.rec.image;
		return OURS_BY_BIRTH;
	}
	parent = BPF_CORE_READ(task, real_parent);
	t = task_find((u64)parent);
	if (t && t->start_ns <= BPF_CORE_READ(task, start_time) && account_of(t, account, image)) {
		if (whole_node)
			account->cgroup = cgroup_of((u64)task);
		return OURS_BY_BIRTH;
	}
	if (whole_node) {
		account->tree = *image = 0;
		account->cgroup = cgroup_of((u64)task);
		return OURS_BY_BIRTH;
	}
	*account = root_account;
	*image = 0;
	return by_cgroup ? OURS_BY_CGROUP : NOT_OURS;
}

int task_adopt(u64 task)
{
	struct account_key account;
	u64 image = 0;
	bool is_old = can_seed && !seeding &&
		      (s64)mono_convert(BPF_CORE_READ((struct task_struct *)task, start_time)) <
			      (s64)seeded_at_ns;
	enum ours how;

	if (is_old && !whole_node)
		return false;
	if (whole_node && !seeding &&
	    !seeded_at_ns) /* what runs already is found by the first pass */
		return false;
	how = task_is_ours((struct task_struct *)task, &account, &image);
	if (how == NOT_OURS)
		return false;
	/* one that is being moved in is met before the hook of its move: it counts from now on */
	if (seeding || is_old || how == OURS_BY_CGROUP)
		task_add(task, account.tree, account.cgroup, 0, PROCESS_ROOT | PROCESS_SEEDED);
	else
		task_add(task, account.tree, account.cgroup, image, PROCESS_LATE);
	return true;
}

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Tasks that the maps had no room for. Each is tried again at its next event, and counts as lost
 * once, also if there is room then: the samples until then lack it.
 */
#include "bpfmon.bpf.h"

struct refused {
	u64 start_ns;
	struct account_key account;
	u32 loss; /* what it counts as, enum loss */
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct refused);
} refused SEC(".maps");

__u64 nr_refused; /* mostly 0, which saves the look-up */

/* If this map is full, too, only births count, at each of their two hooks. */
int task_refuse(u64 task, u64 tree, u64 cgroup, u32 flags)
{
	struct task_struct *ts = (struct task_struct *)task;
	bool is_first = BPF_CORE_READ(ts, pid) == BPF_CORE_READ(ts, tgid);
	struct refused now = {
		.start_ns = BPF_CORE_READ(ts, start_time),
		.account = { tree, cgroup },
		.loss = is_first ? LOSS_PROCESSES_FULL : LOSS_TASKS_FULL,
	};
	struct refused *known = bpf_map_lookup_elem(&refused, &task);

	if (flags & PROCESS_MOVED) /* it is found later */
		return 0;
	if (known && known->start_ns == now.start_ns)
		return 0;
	if (!bpf_map_update_elem(&refused, &task, &now, BPF_ANY))
		add(nr_refused, !known);
	else if (flags & PROCESS_LATE)
		return 0;
	return account_lose(tree, cgroup, now.loss, 1);
}

int task_refused_forget(u64 task, u32 at_birth)
{
	struct refused *known = nr_refused ? bpf_map_lookup_elem(&refused, &task) : NULL;
	struct account_key account;
	bool is_same;
	u32 loss;

	if (!known)
		return 0;
	loss = known->loss;
	account = known->account;
	is_same = known->start_ns == BPF_CORE_READ((struct task_struct *)task, start_time);
	if (bpf_map_delete_elem(&refused, &task))
		return 0;
	add(nr_refused, -1);
	if (!at_birth || !is_same)
		return 0;
	return account_lose(account.tree, account.cgroup, loss, -1);
}

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Victims of the kernel's OOM killer, and the limit that was reached. */
#include "tasks.bpf.h"

#define MAX_LEVELS 10 /* most nested cgroups that are searched */
/* charges are batched: usage of a full cgroup may be that far below its limit */
#define NEAR_PAGES 512

/*
 * Since 6.8 the hook gets the task, before only its PID. The fields of the trace event show which.
 */
struct trace_event_raw_mark_victim___6_8 {
	u32 uid;
} __attribute__((preserve_access_index));

/* Returns the memory cgroup of @task; its css is its first member. */
static __always_inline struct mem_cgroup *task_memcg(struct task_struct *task)
{
	u64 at, memcg = 0;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return NULL;
	at = (u64)BPF_CORE_READ(task, cgroups) + bpf_core_field_offset(struct css_set, subsys);
	at += 8 * bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	bpf_probe_read_kernel(&memcg, sizeof(memcg), (void *)at);
	return (struct mem_cgroup *)memcg;
}

/* Sets the nearest limit that is used up among the cgroups of @task and their ancestors. */
static __always_inline void limit_find(struct oom_event *e, struct task_struct *task)
{
	struct mem_cgroup *memcg = task_memcg(task);
	u32 offset = bpf_core_field_offset(struct mem_cgroup, memory);

	for (int i = 0; memcg && i < MAX_LEVELS; i++) {
		u64 max = BPF_CORE_READ(memcg, memory.max);
		u64 parent = (u64)BPF_CORE_READ(memcg, memory.parent);

		if ((u64)BPF_CORE_READ(memcg, memory.usage.counter) + NEAR_PAGES >= max) {
			e->limit_pages = max;
			bpf_probe_read_kernel_str(e->cgroup, sizeof(e->cgroup),
						  BPF_CORE_READ(memcg, css.cgroup, kn, name));
			return;
		}
		memcg = parent ? (struct mem_cgroup *)(parent - offset) : NULL;
	}
}

/* Before 6.8 the limit is searched from `current`, the task that triggered the OOM kill. */
SEC("?tp_btf/mark_victim")
int oom__victim(u64 *ctx)
{
	bool has_task = bpf_core_field_exists(struct trace_event_raw_mark_victim___6_8, uid);
	struct oom_event e = { .kind = EVENT_OOM, .time_ns = mono_now() };
	struct task_struct *task;
	struct process_entry *p;
	struct task_entry *t;
	u64 victim = 0;

	bpf_probe_read_kernel(&victim, sizeof(victim), ctx);
	task = (struct task_struct *)(has_task ? victim : bpf_get_current_task());
	limit_find(&e, task);
	e.pid = victim;
	if (has_task) {
		t = task_find(victim);
		if (!t)
			return 0;
		e.pid = pid_here(victim);
		e.serial = t->serial;
		p = process_of(t);
		if (p)
			e.account = process_account(p);
		e.rss_pages = resident_read(BPF_CORE_READ(task, mm));
		BPF_CORE_READ_INTO(&e.comm, task, group_leader, comm);
	}
	if (oom_emit(&e))
		account_lose(e.account.tree, e.account.cgroup, LOSS_OOM, 1);
	return 0;
}

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The cgroup of a task, and whether it is the tracked one or below it, in one hierarchy: the
 * unified one or that of one controller.
 */
#include "books.bpf.h"

#define MAX_LEVELS 32

const volatile bool by_cgroup;
const volatile bool whole_node;
const volatile __s32 cgroup_subsys; /* controller of the hierarchy; -1: the unified one */

__u64 cgroup_target; /* id of the tracked cgroup, which changes when it is made again */
__u32 target_level;  /* its depth, 1 for the root; 0: not known yet */

__u32 own_pids[MAX_OWN];

__hidden bool task_is_own(u64 task)
{
	u32 pid = pid_here(task);

	for (int i = 0; i < MAX_OWN; i++)
		if (pid && own_pids[i] == pid)
			return true;
	return false;
}

static __always_inline struct cgroup *task_cgroup(struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	u64 at = (u64)set + bpf_core_field_offset(struct css_set, subsys) + 8 * (u64)cgroup_subsys;
	struct cgroup_subsys_state *css = NULL;

	if (cgroup_subsys < 0)
		return BPF_CORE_READ(set, dfl_cgrp);
	bpf_probe_read_kernel(&css, sizeof(css), (void *)at);
	return BPF_CORE_READ(css, cgroup);
}

u64 cgroup_of(u64 task)
{
	return whole_node ? BPF_CORE_READ(task_cgroup((struct task_struct *)task), kn, id) : 0;
}

/* Up to 6.0 a cgroup has the ids of its ancestors, later it has pointers to them. */
struct cgroup___6_0 {
	u64 ancestor_ids[0];
} __attribute__((preserve_access_index));

/* Not inlined: clang would hoist the access to a field that this kernel lacks out of a loop. */
__noinline u64 cgroup_ancestor_id(u64 addr, u32 level)
{
	struct cgroup *cg = (struct cgroup *)addr;
	struct cgroup___6_0 *old = (void *)cg;
	struct cgroup *above = NULL;
	u64 id = 0;

	if (bpf_core_field_exists(old->ancestor_ids)) {
		bpf_probe_read_kernel(&id, sizeof(id), (void *)&old->ancestor_ids + 8ULL * level);
		return id;
	}
	bpf_probe_read_kernel(&above, sizeof(above), (void *)&cg->ancestors + 8ULL * level);
	return BPF_CORE_READ(above, kn, id);
}

__noinline int cgroup_has(u64 task)
{
	struct cgroup *cg = task_cgroup((struct task_struct *)task);
	u32 level = BPF_CORE_READ(cg, level) + 1;

	if (!target_level && BPF_CORE_READ(cg, kn, id) == cgroup_target)
		target_level = level;
	return target_level && level >= target_level &&
	       cgroup_ancestor_id((u64)cg, target_level - 1) == cgroup_target;
}

/*
 * A cgroup namespace may hide the depth of the target, so it is found among the ancestors of a
 * task.
 */
int cgroup_find_level(u64 task)
{
	struct cgroup *cg = task_cgroup((struct task_struct *)task);
	u32 level = BPF_CORE_READ(cg, level) + 1;

	for (u32 i = 0; !target_level && i < MAX_LEVELS && i < level; i++)
		if (cgroup_ancestor_id((u64)cg, i) == cgroup_target)
			target_level = i + 1;
	return 0;
}

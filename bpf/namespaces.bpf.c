// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * PIDs and times as the collector sees them. Its PID namespace decides which PIDs /proc and all
 * reports show. The kernel's clocks have no namespaces, but in a time namespace the clocks of user
 * space, and the start times in /proc, are shifted.
 */
#include "books.bpf.h"

/*
 * The collector's PID namespace, read by the first pass over all tasks. A process that is not
 * visible in it has PID 0.
 */
__u64 pid_namespace;
__u32 pid_level;

/* CO-RE does not know the stride of an array with a variable index. */
static __always_inline u64 upid_address(struct pid *pid, u32 level)
{
	return (u64)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

static __always_inline u32 upid_read_nr(u64 upid)
{
	u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)upid + bpf_core_field_offset(struct upid, nr));
	return nr;
}

static __always_inline u64 upid_read_ns(u64 upid)
{
	u64 ns = 0;

	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (void *)upid + bpf_core_field_offset(struct upid, ns));
	return ns;
}

__hidden void pid_namespace_learn(void)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(self, thread_pid);

	pid_level = BPF_CORE_READ(pid, level);
	pid_namespace = upid_read_ns(upid_address(pid, pid_level));
}

u32 pid_here(u64 addr)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	u64 upid;

	if (!pid_level)
		return BPF_CORE_READ(task, tgid);
	if (BPF_CORE_READ(pid, level) < pid_level)
		return 0;
	upid = upid_address(pid, pid_level);
	return upid_read_ns(upid) == pid_namespace ? upid_read_nr(upid) : 0;
}

u32 pid_innermost(u64 addr)
{
	struct pid *pid = BPF_CORE_READ((struct task_struct *)addr, group_leader, thread_pid);

	return upid_read_nr(upid_address(pid, BPF_CORE_READ(pid, level)));
}

__s64 mono_offset_ns, boot_offset_ns;

#define NSEC_PER_SEC 1000000000LL

__hidden void clocks_learn(void)
{
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct time_namespace *ns = NULL;

	if (!bpf_core_field_exists(ns->offsets.boottime.tv_sec))
		return;
	ns = BPF_CORE_READ(self, nsproxy, time_ns);
	mono_offset_ns = BPF_CORE_READ(ns, offsets.monotonic.tv_sec) * NSEC_PER_SEC +
			 BPF_CORE_READ(ns, offsets.monotonic.tv_nsec);
	boot_offset_ns = BPF_CORE_READ(ns, offsets.boottime.tv_sec) * NSEC_PER_SEC +
			 BPF_CORE_READ(ns, offsets.boottime.tv_nsec);
}

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The clocks of the collector. The kernel's own clocks have no namespaces; in a time namespace
 * those of user space, and the start times in /proc, are shifted.
 */
#include "bpfmon.bpf.h"

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

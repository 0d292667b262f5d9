// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* What processes had used before they were attached to: reported separately, in no account. */
#include "bpfmon.bpf.h"

struct task_counters baseline;
bool baseline_lacks_io; /* the I/O of ended threads is not known */

__hidden void baseline_add(const struct task_counters *used)
{
/* a field that is not read is 0, a constant: clang makes an atomic "or" of that, for which the BPF
 * backend has no instruction */
#define TASK_METRIC(base, ...)                                                                     \
	if (used->base)                                                                            \
		add(baseline.base, used->base);
#include "bpfmon/metrics.def"
	add(baseline.utime, used->utime);
	add(baseline.stime, used->stime);
}

static __always_inline bool signal_has_reaped(struct signal_struct *sig)
{
	return BPF_CORE_READ(sig, cmin_flt) || BPF_CORE_READ(sig, cnvcsw);
}

/*
 * The kernel sums up what the ended threads of a process have used, but not how long they waited.
 * Its sum of I/O includes that of reaped children, which is not the process's own: if there were
 * both, the two parts of the sum cannot be separated.
 */
__hidden void baseline_add_ended(struct signal_struct *sig)
{
	struct task_counters used = {
		.cpu = BPF_CORE_READ(sig, sum_sched_runtime),
		.utime = BPF_CORE_READ(sig, utime),
		.stime = BPF_CORE_READ(sig, stime),
		.minflt = BPF_CORE_READ(sig, min_flt),
		.majflt = BPF_CORE_READ(sig, maj_flt),
		.nvcsw = BPF_CORE_READ(sig, nvcsw),
		.nivcsw = BPF_CORE_READ(sig, nivcsw),
	};

	if (signal_has_reaped(sig)) {
		if (used.cpu)
			baseline_lacks_io = true;
		baseline_add(&used);
		return;
	}
	if (bpf_core_field_exists(sig->ioac.rchar)) {
		used.rchar = BPF_CORE_READ(sig, ioac.rchar);
		used.wchar = BPF_CORE_READ(sig, ioac.wchar);
		used.syscr = BPF_CORE_READ(sig, ioac.syscr);
		used.syscw = BPF_CORE_READ(sig, ioac.syscw);
	}
	if (bpf_core_field_exists(sig->ioac.read_bytes)) {
		used.read = BPF_CORE_READ(sig, ioac.read_bytes);
		used.write = BPF_CORE_READ(sig, ioac.write_bytes);
		used.cancelled_write = BPF_CORE_READ(sig, ioac.cancelled_write_bytes);
	}
	baseline_add(&used);
}

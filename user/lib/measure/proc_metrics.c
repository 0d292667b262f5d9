// SPDX-License-Identifier: BSD-2-Clause
/* Which metrics are known without BPF. */
#include "measure/proc_source.h"

#include <unistd.h>

static const char *why_unusable(enum metric_id id)
{
	static const char needs_bpf[] = "only known with BPF; the source is /proc";
	static const enum metric_id known[] = {
		M_cpu,       M_user,   M_system, M_minflt, M_majflt, M_nvcsw, M_nivcsw,
		M_rchar,     M_wchar,  M_syscr,  M_syscw,  M_read,   M_write, M_cancelled_write,
		M_processes, M_threads
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i] == id)
			return NULL;
	switch (metric_get(id)->source) {
	case SOURCE_MEMORY:
	case SOURCE_DERIVED:
	case SOURCE_CGROUP:
	case SOURCE_HOST:
		return NULL;
	case SOURCE_PROCFS:
		return access("/proc/self/smaps_rollup", R_OK)
			       ? "kernel does not report it: needs CONFIG_PROC_PAGE_MONITOR"
			       : NULL;
	default:
		return needs_bpf;
	}
}

void proc_source_metrics(const struct metric_set *wanted, struct metric_set *usable,
			 const char *unusable[NR_METRICS])
{
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		unusable[i] = metric_has(wanted, id) ? why_unusable(id) : NULL;
		if (metric_has(wanted, id) && !unusable[i])
			metric_put(usable, id);
	}
}

void proc_metrics_bounds(const struct metric_set *usable, bool are_all, bool misses_io,
			 struct metric_set *bounds)
{
	static const enum metric_id unread[] = { M_rchar, M_wchar, M_syscr, M_syscw,
						 M_cancelled_write };

	for (int i = 0; are_all && i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) &&
		    (source == SOURCE_TASK || source == SOURCE_SPLIT))
			metric_put(bounds, (enum metric_id)i);
	}
	for (size_t i = 0; misses_io && i < sizeof(unread) / sizeof(*unread); i++)
		if (metric_has(usable, unread[i]))
			metric_put(bounds, unread[i]);
}

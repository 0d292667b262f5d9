// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_spec.h"

#include <string.h>

/* clang-format off */
const struct chart_spec chart_specs[NR_CHARTS] = {
	{ "cpu", "CPU", "cores in use", CHART_CORES, 5, {
		{ M_user, "user", 1, CURVE_STACKED, false },
		{ M_system, "system", 2, CURVE_STACKED, false },
		{ M_cores, "total", 0, CURVE_LINE, false },
		{ M_runqueue_wait, "waiting for a CPU", 4, CURVE_HIDDEN, false },
		{ M_cgroup_throttled, "throttled by a CPU limit", 5, CURVE_HIDDEN, true } } },
	{ "memory", "Memory", "resident", CHART_BYTES, 9, {
		{ M_rss_anon, "anonymous", 1, CURVE_STACKED, false },
		{ M_rss_file, "file-backed", 3, CURVE_STACKED, false },
		{ M_rss_shmem, "shared", 2, CURVE_STACKED, true },
		{ M_rss, "total", 0, CURVE_LINE, false },
		{ M_pss, "PSS", 5, CURVE_LINE, false },
		{ M_swap, "swapped out", 4, CURVE_LINE, true },
		{ M_hugetlb, "huge pages", 2, CURVE_DASHED, true },
		{ M_cgroup_memory, "cgroup", 6, CURVE_LINE, false },
		{ M_cgroup_swap, "cgroup, swapped out", 4, CURVE_DASHED, true } } },
	{ "io", "I/O", "per second", CHART_BYTE_RATE, 4, {
		{ M_read, "from storage", 1, CURVE_LINE, false },
		{ M_write, "to storage", 2, CURVE_LINE, false },
		{ M_rchar, "read calls", 3, CURVE_HIDDEN, false },
		{ M_wchar, "write calls", 4, CURVE_HIDDEN, false } } },
	{ "network", "Network", "sockets, per second", CHART_BYTE_RATE, 4, {
		{ M_net_rx, "received", 1, CURVE_LINE, false },
		{ M_net_tx, "sent", 2, CURVE_LINE, false },
		{ M_net_rx_unix, "received over Unix sockets", 3, CURVE_HIDDEN, true },
		{ M_net_tx_unix, "sent over Unix sockets", 4, CURVE_HIDDEN, true } } },
	{ "processes", "Processes and threads", "alive", CHART_COUNT, 2, {
		{ M_threads, "threads", 2, CURVE_LINE, false },
		{ M_processes, "processes", 1, CURVE_LINE, false } } },
	{ "faults", "Page faults", "per second", CHART_COUNT_RATE, 2, {
		{ M_minflt, "minor", 1, CURVE_LINE, false },
		{ M_majflt, "major", 2, CURVE_LINE, false } } },
	{ "switches", "Context switches", "per second", CHART_COUNT_RATE, 2, {
		{ M_nvcsw, "voluntary", 1, CURVE_LINE, false },
		{ M_nivcsw, "involuntary", 2, CURVE_LINE, false } } },
	{ "pressure", "Pressure", "share of the time that tasks waited", CHART_SHARE, 7, {
		{ M_cgroup_cpu_pressure_some, "CPU, some", 5, CURVE_LINE, true },
		{ M_cgroup_memory_pressure_some, "memory, some", 1, CURVE_LINE, true },
		{ M_cgroup_memory_pressure_full, "memory, all", 2, CURVE_LINE, true },
		{ M_cgroup_io_pressure_some, "I/O, some", 3, CURVE_LINE, true },
		{ M_cgroup_io_pressure_full, "I/O, all", 4, CURVE_LINE, true },
		{ M_host_memory_pressure_some, "machine's memory, some", 1, CURVE_DASHED, true },
		{ M_host_memory_pressure_full, "machine's memory, all", 2, CURVE_DASHED, true } } },
};
/* clang-format on */

size_t chart_find(const char *name)
{
	size_t i = 0;

	while (i < NR_CHARTS && strcmp(chart_specs[i].name, name) != 0)
		i++;
	return i;
}

const char *chart_unit_name(enum chart_unit unit)
{
	static const char *const names[NR_CHART_UNITS] = { "cores", "bytes",      "byte_rate",
							   "count", "count_rate", "share" };

	return names[unit];
}

const char *curve_style_name(enum curve_style style)
{
	static const char *const names[NR_CURVE_STYLES] = { "line", "dashed", "stacked", "hidden" };

	return names[style];
}

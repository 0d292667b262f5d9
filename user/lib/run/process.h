/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of one process (thread group), ended or alive at the end of the run. */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H

#include "run/comm.h"
#include "run/metric.h"

struct process {
	int32_t pid, ns_pid, ppid;
	uint32_t uid;
	uint64_t span; /* in which it ended; 0: in none */
	char comm[COMM_TEXT_BYTES];
	const char *exe;  /* NULL: not known */
	const char *args; /* each ended by NUL; NULL: left out or not known */
	size_t args_length;
	bool args_cut;
	bool lossy; /* read back: some string had bytes that were not UTF-8 */
	uint64_t start_epoch_ns;
	uint64_t end_epoch_ns;    /* 0: alive, or its end was not seen */
	uint64_t joined_epoch_ns; /* what it used before does not count; 0: all counts */
	uint64_t left_epoch_ns;   /* it was moved out of the cgroup then; 0: it was not */
	bool has_ended;
	int exit_code; /* if has_ended and no signal */
	int signal;    /* 0: none */
	char state;    /* of a live one, as in /proc/PID/stat; 0: not known */
	uint32_t threads_total, execs;
	bool has_rss_peak, rss_peak_exact;
	uint64_t rss_peak_bytes;
	uint64_t children_cpu_ns; /* of children that have no record, as they ended between samples
				   */
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of one process (thread group), ended or alive at the end of the run. */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H

#include "run/metric.h"

#include <jansson.h>

#include <string.h>

/* A process's name. */

/* Each of the kernel's 15 bytes may be replaced by U+FFFD, which takes three. */
#define COMM_TEXT_BYTES 46

/* Copies no more than @room bytes of @from, ended by NUL; a name that is too long is cut. */
static inline void comm_copy(char to[COMM_TEXT_BYTES], const char *from, size_t room)
{
	size_t n = strnlen(from, room < COMM_TEXT_BYTES ? room : COMM_TEXT_BYTES - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

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

/* A live process at a sample: what it held then, of those of --process-samples and of live feeds.
 */

#define MAX_PROCESS_SAMPLES 1000 /* at one sample */

struct process_sample {
	uint64_t elapsed_ns; /* of its sample */
	int32_t pid;
	char comm[COMM_TEXT_BYTES]; /* empty: not known */
	bool lossy;                 /* read back: comm had bytes that were not UTF-8 */
	uint64_t start_epoch_ns;
	/* Of a live feed only: */
	bool has_parent;
	int32_t ppid;
	uint32_t uid;
	const char *exe; /* NULL: not known; read back, in use until the next line */
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

/* The metrics that it has in files and stores. */
void process_sample_metrics(struct metric_set *set);

/* Copies the text "comm" of @o, if there is one. */
void comm_read(char comm[COMM_TEXT_BYTES], const json_t *o);

#endif

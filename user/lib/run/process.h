/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of one process (thread group) that ended or was alive at the end of the run. */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H

#include "run/metric.h"

#include <jansson.h>

#include <string.h>

/* Size of a process's name: each of the kernel's 15 bytes may become U+FFFD, which takes three. */
#define COMM_TEXT_BYTES 46

/* Copies at most @room bytes of @from and a NUL; truncates a name that does not fit. */
static inline void comm_copy(char to[COMM_TEXT_BYTES], const char *from, size_t room)
{
	size_t n = strnlen(from, room < COMM_TEXT_BYTES ? room : COMM_TEXT_BYTES - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

struct process {
	int32_t pid, ns_pid, ppid;
	uint32_t uid;
	uint64_t span; /* span in which it ended; 0: none */
	char comm[COMM_TEXT_BYTES];
	const char *exe;  /* NULL: unknown */
	const char *args; /* NUL-terminated strings; NULL: omitted or unknown */
	size_t args_length;
	bool args_cut;
	bool lossy; /* set by the reader: some string had bytes that were not UTF-8 */
	uint64_t start_epoch_ns;
	uint64_t end_epoch_ns;    /* 0: alive, or its end was missed */
	uint64_t joined_epoch_ns; /* usage before this time is excluded; 0: none is */
	uint64_t left_epoch_ns;   /* time of its move out of the cgroup; 0: never */
	bool has_ended;
	int exit_code; /* valid if has_ended and no signal */
	int signal;    /* 0: none */
	char state;    /* state of a live process, as in /proc/PID/stat; 0: unknown */
	uint32_t threads_total, execs;
	bool has_rss_peak, rss_peak_exact;
	uint64_t rss_peak_bytes;
	uint64_t gpu_memory_peak_bytes; /* 0: used no GPU, or unknown */
	uint64_t children_cpu_ns;       /* of children that ended without a record */
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

/* A live process at a sample, for --process-samples and live feeds. */

#define MAX_PROCESS_SAMPLES 1000 /* limit per sample */

struct process_sample {
	uint64_t elapsed_ns; /* time of the sample */
	int32_t pid;
	char comm[COMM_TEXT_BYTES]; /* empty: unknown */
	bool lossy;                 /* set by the reader: comm had bytes that were not UTF-8 */
	uint64_t start_epoch_ns;
	/* only in a live feed: */
	bool has_parent;
	int32_t ppid;
	uint32_t uid;
	const char *exe; /* NULL: unknown; set by the reader: valid until the next line */
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

/* Sets @set to the metrics that these records have in files and stores. */
static inline void process_sample_metrics(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	metric_put(set, M_cpu);
	metric_put(set, M_rss);
	metric_put(set, M_rss_anon);
	metric_put(set, M_swap);
	metric_put(set, M_gpu);
	metric_put(set, M_gpu_memory);
}

/* Copies the text "comm" of @o, if present. */
static inline void comm_read(char comm[COMM_TEXT_BYTES], const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "comm"));

	if (text)
		comm_copy(comm, text, SIZE_MAX);
}

#endif

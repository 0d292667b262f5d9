/* SPDX-License-Identifier: BSD-2-Clause */
/* A live process at a sample: what it held then, of those of --process-samples and of live feeds.
 */
#ifndef RUN_PROCESS_SAMPLE_H
#define RUN_PROCESS_SAMPLE_H

#include "run/comm.h"
#include "run/metric.h"

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

#endif

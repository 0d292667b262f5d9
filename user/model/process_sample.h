/* SPDX-License-Identifier: BSD-2-Clause */
/* A live process at a sample (--process-samples): what it held then. */
#ifndef MODEL_PROCESS_SAMPLE_H
#define MODEL_PROCESS_SAMPLE_H

#include "model/comm.h"
#include "model/metric.h"

#define MAX_PROCESS_SAMPLES 1000 /* at one sample */

struct process_sample {
	uint64_t elapsed_ns; /* of its sample */
	int32_t pid;
	char comm[COMM_TEXT_BYTES]; /* empty: not known */
	bool lossy;                 /* read back: comm had bytes that were not UTF-8 */
	uint64_t start_epoch_ns;
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

/* The metrics that it may have. */
void process_sample_metrics(struct metric_set *set);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory over time by process or, if there are many, by program: the largest holders in the samples
 * of processes (--process-samples), the others, and memory of processes in no sample. The lines are
 * read twice: the first pass ranks all holders, the second keeps the values of the largest,
 * downsampled.
 */
#ifndef PAGE_HELD_H
#define PAGE_HELD_H

#include "base/json.h"
#include "run/process.h"
#include "run/sample.h"
#include "page/downsampler.h"

#define HELD_GROUPS 6      /* processes or programs that are drawn */
#define HELD_PROGRAMS 1000 /* programs that are distinguished; further ones belong to the rest */

/* A process, or all processes of one name. */
struct held_group {
	char comm[COMM_TEXT_BYTES];
	int32_t pid; /* 0 for all of that name */
	uint64_t start_epoch_ns;
	uint64_t now_ns, now_bytes; /* at the latest sample */
	uint64_t most_bytes;        /* peak of the sum */
};

struct report_held {
	struct held_group *programs; /* owned */
	size_t nr_programs, room;
	struct held_group group[HELD_GROUPS]; /* in the first pass the first processes */
	size_t nr;
	bool by_program;            /* there are more processes than groups */
	struct downsampler sampler; /* columns: each group, other programs, the rest, all */
	uint64_t unsampled;         /* most processes alive at a sample and not in it */
	/* the sample being read */
	struct downsampler_row row;
	double row_weight;
	uint64_t row_ns;
	uint64_t row_processes; /* alive; 0 if unknown */
	uint64_t nr_read;       /* processes of the sample */
	bool is_known;          /* memory of the sample is known */
};

void held_done(struct report_held *h);
/* First pass: ranks a process of a sample. Returns 0 or -ENOMEM. */
int held_count(struct report_held *h, const struct process_sample *p);
/* Between the passes: chooses the groups to draw. Returns 0 or -ENOMEM. */
int held_choose(struct report_held *h);
/* Second pass: add a sample, then each of its processes. */
void held_add_sample(struct report_held *h, const struct sample *s);
void held_add_process(struct report_held *h, const struct process_sample *p);
/*
 * Writes
 * "held":{"by":"process","names":[...],"unsampled":...,"each":...,"time":[...],"columns":[[...]]}.
 * There are two columns more than names: other sampled processes, and unsampled ones. If a row is
 * for several samples, "most" has the maximum of each column and of the sum, and "least" the
 * minimum of the sum. Writes nothing if there are no samples of processes. Returns 0 or -ENOMEM.
 */
int held_write(struct report_held *h, struct jsonw *j);

#endif

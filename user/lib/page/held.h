/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory over time by process or, of many, by program: what the samples of processes
 * (--process-samples) have of those that held most, of others, and what is in no sample. The lines
 * are read twice: first all are ranked, then the values of those that held most are kept, thinned
 * as samples are.
 */
#ifndef PAGE_HELD_H
#define PAGE_HELD_H

#include "base/json.h"
#include "run/process.h"
#include "run/sample.h"
#include "page/downsampler.h"

#define HELD_GROUPS 6      /* processes or programs that are drawn */
#define HELD_PROGRAMS 1000 /* that are distinguished; further ones are in the rest */

/* A process, or all of one name. */
struct held_group {
	char comm[COMM_TEXT_BYTES];
	int32_t pid; /* 0: all of that name */
	uint64_t start_epoch_ns;
	uint64_t now_ns, now_bytes; /* of the latest sample */
	uint64_t most_bytes;        /* of all of them */
};

struct report_held {
	struct held_group *programs; /* owned */
	size_t nr_programs, room;
	struct held_group group[HELD_GROUPS]; /* first pass: the first processes */
	size_t nr;
	bool by_program;            /* there are more processes than groups */
	struct downsampler sampler; /* of each group, of other programs, of the rest, of all */
	uint64_t unsampled; /* the most processes that are alive at a sample and not in it */
	/* the sample that is being read */
	struct downsampler_row row;
	uint64_t row_ns;
	uint64_t row_processes; /* alive; 0: not known */
	uint64_t nr_read;       /* processes of it */
	bool is_known;          /* its memory */
};

void held_done(struct report_held *h);
/* The first pass: ranks a process of a sample. -ENOMEM. */
int held_count(struct report_held *h, const struct process_sample *p);
/* Between the passes: chooses what is drawn. -ENOMEM. */
int held_choose(struct report_held *h);
/* The second pass: a sample, and then those of its processes. */
void held_add_sample(struct report_held *h, const struct sample *s);
void held_add_process(struct report_held *h, const struct process_sample *p);
/*
 * "held":{"by":"process","names":[...],"unsampled":...,"each":...,"time":[...],"columns":[[...]]},
 * two columns more than names: other processes that were sampled, and those that were not; nothing
 * without samples of processes. -ENOMEM.
 */
int held_write(struct report_held *h, struct jsonw *j);

#endif

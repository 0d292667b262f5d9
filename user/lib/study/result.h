/* SPDX-License-Identifier: BSD-2-Clause */
/* What a benchmark has measured: its runs as they were stored, by case, against the fastest. */
#ifndef STUDY_RESULT_H
#define STUDY_RESULT_H

#include "study/plan.h"
#include "study/ratio.h"
#include "study/step.h"

/* Tags of each run: of which benchmark, and of which case of it. */
#define BENCH_TAG "bench"
#define BENCH_CASE_TAG "case"
#define BENCH_ROUND_TAG "round" /* in which of its runs a case ran, from 1 on */
#define BENCH_SEED_TAG "seed"

struct bench_result {
	const struct bench_plan *plan; /* not owned */
	const struct sides *runs;      /* the same */
	const struct steps *spans;     /* the same, of these runs; NULL: they are not known */
	struct groups groups;          /* by case; the first is the fastest */
	struct comparison comparison;  /* of the time against the fastest of all, see there */
	size_t *case_of;               /* owned; of each group */
};

/*
 * @runs must have one at least, each with BENCH_CASE_TAG. -ENOENT: one is of no case of the plan;
 * -ENOMEM. To be given to bench_result_done() in any case.
 */
int bench_result_make(struct bench_result *r, const struct bench_plan *p, const struct sides *runs);
void bench_result_done(struct bench_result *r);

/* The group of a case; NULL: it has no run. */
const struct group *bench_group(const struct bench_result *r, size_t of_case);
/*
 * The values of the key called @name that runs of @g have, in their order, into @out, which has
 * room for all; how many these are.
 */
size_t bench_values(const struct group *g, const char *name, double *out);
/* The same in short. -ENOMEM. */
int bench_measure(const struct group *g, const char *name, struct measure *m);

#endif

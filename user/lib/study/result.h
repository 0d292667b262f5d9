/* SPDX-License-Identifier: BSD-2-Clause */
/* What a benchmark has measured: its runs as they were stored, by case, against the fastest. */
#ifndef STUDY_RESULT_H
#define STUDY_RESULT_H

#include "base/json.h"
#include "study/plan.h"
#include "study/step.h"

#include <stdbool.h>
#include <stddef.h>

/* Few numbers in short, and by what factor one sample is larger than another. */

/* Of at least one value. */
struct measure {
	size_t nr;
	double mean, median, least, most;
	double sd; /* of the sample, by n - 1; NAN of one value */
};

/* Sorts @v. @nr may be 0: all is NAN then. */
void measure_make(struct measure *m, double *v, size_t nr);

struct ratio {
	double estimate;   /* the median of all ratios of a value of b to one of a */
	bool has_interval; /* else there are too few values for one */
	double low, high;  /* with at least 95 % the true factor is between these */
};

/*
 * By what factor values of @b are larger than those of @a, all of which are above 0: the estimate
 * of Hodges and Lehmann and the interval of Moses, on the logarithms. The interval leaves 1 out
 * exactly where stats_rank_test() without ties has p < 0.05. -ENOMEM.
 */
int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r);

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

/* The file of hyperfine --export-json, with what each run held in memory as its later releases. */

/* Writes the document, with the cases that have a run, in the order of the plan. -ENOMEM. */
int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of a benchmark: its stored runs by case, against the fastest. */
#ifndef STUDY_RESULT_H
#define STUDY_RESULT_H

#include "base/json.h"
#include "study/plan.h"
#include "study/step.h"

#include <stdbool.h>
#include <stddef.h>

/* A summary of at least one value. */
struct measure {
	size_t nr;
	double mean, median, least, most;
	double sd; /* with n - 1; NAN for one value */
};

/* Summarizes @nr values, and sorts them. With @nr 0 all is NAN. */
void measure_make(struct measure *m, double *v, size_t nr);

struct ratio {
	double estimate;   /* median of the ratios of all pairs */
	bool has_interval; /* there are enough values for one */
	double low, high;  /* confidence interval of 95 % or more */
};

/*
 * Estimates the factor between values of @b and @a, which must be above 0: the estimate of Hodges
 * and Lehmann and the interval of Moses, on logarithms. The interval excludes 1 exactly if
 * stats_rank_test() without ties has p < 0.05. -ENOMEM.
 */
int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r);

/* Tags of each run. */
#define BENCH_TAG "bench"
#define BENCH_CASE_TAG "case"
#define BENCH_ROUND_TAG "round" /* number of the run of its case, from 1 */
#define BENCH_SEED_TAG "seed"

struct bench_result {
	const struct bench_plan *plan; /* not owned */
	const struct sides *runs;      /* not owned */
	const struct steps *spans;     /* of these runs, not owned; NULL: unknown */
	struct groups groups;          /* by case; the first is the fastest */
	struct comparison comparison;  /* against the fastest */
	size_t *case_of;               /* owned; of each group */
};

/*
 * Makes the result of at least one run, each with BENCH_CASE_TAG. -ENOENT: a run is of no case of
 * the plan; -ENOMEM. Call bench_result_done() in any case.
 */
int bench_result_make(struct bench_result *r, const struct bench_plan *p, const struct sides *runs);
void bench_result_done(struct bench_result *r);

/* Returns the group of a case; NULL if it has no run. */
const struct group *bench_group(const struct bench_result *r, size_t of_case);
/*
 * Copies the values of the key @name, in the order of the runs, to @out, which has room for all.
 * Returns their number.
 */
size_t bench_values(const struct group *g, const char *name, double *out);
/* Summarizes these values. -ENOMEM. */
int bench_measure(const struct group *g, const char *name, struct measure *m);

/* Writes the cases that have a run as hyperfine --export-json does, in the order of the plan, with
 * the memory of each run as its later releases. -ENOMEM. */
int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r);

#endif

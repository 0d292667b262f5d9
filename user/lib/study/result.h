/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of a benchmark: its runs by case, compared with the fastest case. */
#ifndef STUDY_RESULT_H
#define STUDY_RESULT_H

#include "base/buffer.h"
#include "base/json.h"
#include "study/plan.h"
#include "study/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct measure {
	size_t nr;
	double mean, median, least, most;
	double sd; /* with n - 1; NAN for one value */
};

/* Sorts the @nr values and computes their statistics, all NAN if @nr is 0. */
void measure_make(struct measure *m, double *v, size_t nr);

struct ratio {
	double estimate;   /* median of the ratios of all pairs */
	bool has_interval; /* there are enough values for one */
	double low, high;  /* confidence interval of at least 95 % */
};

/*
 * Estimates the factor from values of @a to values of @b, all above 0: the estimate of Hodges and
 * Lehmann and the interval of Moses, on logarithms. The interval excludes 1 exactly if
 * stats_rank_test() without ties has p < 0.05. Returns 0 or -ENOMEM.
 */
int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r);

/* Tags of each run. */
#define BENCH_TAG "bench"
#define BENCH_CASE_TAG "case"
#define BENCH_ROUND_TAG "round" /* number of the run within its case, from 1 */
#define BENCH_SEED_TAG "seed"

struct bench_result {
	const struct bench_plan *plan; /* not owned */
	const struct sides *runs;      /* not owned */
	const struct steps *spans;     /* not owned; may be NULL */
	struct groups groups;          /* by case, the fastest first */
	struct comparison comparison;  /* against the fastest */
	size_t *case_of;               /* owned; [group] */
};

/*
 * Makes the result of at least one run, each with BENCH_CASE_TAG. Returns 0, -ENOENT if a run
 * belongs to no case of the plan, or -ENOMEM. Call bench_result_done() in any case.
 */
int bench_result_make(struct bench_result *r, const struct bench_plan *p, const struct sides *runs);
void bench_result_done(struct bench_result *r);

/* Returns the group of a case; NULL if it has no run. */
const struct group *bench_group(const struct bench_result *r, size_t of_case);
/* Computes statistics of these values. Returns 0 or -ENOMEM. */
int bench_measure(const struct group *g, const char *name, struct measure *m);

struct bench_times {
	struct measure wall, user, system;
};

/* Computes the statistics that hyperfine exports, in seconds. Returns 0 or -ENOMEM. */
int bench_times_of(const struct group *g, struct bench_times *t);

/* Estimates by what factor a group took longer than the fastest. Returns 0 or -ENOMEM. */
int bench_ratio(const struct bench_result *r, size_t group, struct ratio *out);

/*
 * Writes the cases that have runs like hyperfine --export-json, in the order of the plan, with the
 * memory of each run as its later releases have it. Returns 0 or -ENOMEM.
 */
int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r);
/* Writes them like hyperfine --export-csv: a column for each parameter, seconds. */
int bench_write_csv(struct buffer *t, const struct bench_result *r);
/* Writes a table like hyperfine --export-markdown, with the peak of memory besides. */
int bench_write_markdown(FILE *f, const struct bench_result *r);

/*
 * Prints tables of the time, of other resources and of spans, and each case against the fastest.
 * Returns 0 or -ENOMEM.
 */
int bench_text(FILE *f, const struct bench_result *r, size_t width);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A metric over the git revisions of the runs of one name, and the places where its values change.
 */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/json.h"
#include "study/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MOST_CHANGES 8

struct change {
	size_t place; /* index in @places; values differ from there on */
	double p;
};

struct changes {
	bool is_enough;                   /* enough values to tell a change from noise */
	double p;                         /* of the first change tested; 1 if none was */
	struct change list[MOST_CHANGES]; /* in the order of the sequence */
	size_t nr;
};

/*
 * Finds changes in @n values, at the @nr candidates @places, ascending, each above 0 and below @n.
 * The statistic is a CUSUM of ranks: the maximum over all places of the difference between the mean
 * ranks before and after, in standard deviations. p is the share of random orders of the values
 * with a statistic at least as large. If p is below ALPHA of compare.h, both sides are searched in
 * the same way. Returns 0 or -ENOMEM.
 */
int changes_find(struct changes *c, const double *values, size_t n, const size_t *places,
		 size_t nr);

#define REVISION_BYTES 65 /* SHA-256 in hexadecimal, and the NUL */

/* The revision of each run in a list; "" if unknown. */
struct run_revisions {
	char (*of)[REVISION_BYTES]; /* owned */
};

struct revision {
	const char *id;
	uint64_t first_ns; /* epoch; start of its first run */
	size_t from, nr;   /* range in the values of the trend */
	double median;
};

struct trend_change {
	size_t revision;            /* the first revision with the new values */
	double p, before, after;    /* medians between the neighbouring changes and this one */
	size_t nr_before, nr_after; /* number of values in these medians */
};

struct trend {
	const char *name, *key;
	enum metric_unit unit;
	struct revision *list; /* owned; by first run */
	size_t nr;
	double *values; /* owned; by revision, then by start of the run */
	size_t nr_values;
	size_t nr_left; /* runs that failed, or lack revision or value */
	bool is_enough; /* enough values to tell a change from noise */
	double p;       /* under the assumption of no change */
	struct trend_change changes[MOST_CHANGES];
	size_t nr_changes;
};

int run_revisions_open(struct run_revisions *r, size_t nr);
/* Sets the revision of a run from its meta line. A run_line_fn for query_lines(). */
void run_revisions_take(void *revisions, size_t at, const char *meta);
void run_revisions_done(struct run_revisions *r);

/*
 * Makes the trend of the first metric over the runs that succeeded. @revisions must outlive @t.
 * Returns 0, -EMLINK if the runs have several names, or several commands without a name, or
 * -ENOMEM.
 */
int trend_make(struct trend *t, const struct many_values *v, const struct run_revisions *revisions,
	       const struct stored_runs *all);
void trend_done(struct trend *t);
/* Prints the changes and the last @limit (0: all) revisions. Returns 0 or -ENOMEM. */
int trend_text(FILE *f, const struct trend *t, size_t limit, size_t width);
/* Writes one object; docs/STUDY.md describes it. */
void trend_json(struct jsonw *j, const struct trend *t);

#endif

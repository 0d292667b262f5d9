/* SPDX-License-Identifier: BSD-2-Clause */
/* A metric over the git revisions of the runs of one name. */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/json.h"
#include "study/change.h"
#include "study/values.h"

#include <stdio.h>

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

/* SPDX-License-Identifier: BSD-2-Clause */
/* A metric over the git revisions of runs of one name. */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/json.h"
#include "study/change.h"
#include "study/values.h"

#include <stdio.h>

#define REVISION_BYTES 65 /* of SHA-256, and the NUL */

/* The revision of each run of a list; "": it has none. */
struct run_revisions {
	char (*of)[REVISION_BYTES]; /* owned */
};

struct revision {
	const char *id;
	uint64_t first_ns; /* start of its first run, epoch */
	size_t from, nr;   /* range of its values */
	double median;
};

struct trend_change {
	size_t revision;            /* the first with the new values */
	double p, before, after;    /* medians between this change and its neighbours */
	size_t nr_before, nr_after; /* values of these */
};

struct trend {
	const char *name, *key;
	enum metric_unit unit;
	struct revision *list; /* owned; in the order of their first runs */
	size_t nr;
	double *values; /* owned; by revision, the oldest run of each first */
	size_t nr_values;
	size_t nr_left; /* runs that failed, or have no revision or no value */
	bool is_enough; /* there are enough values to tell a change from noise */
	double p;       /* that there is no change */
	struct trend_change changes[MOST_CHANGES];
	size_t nr_changes;
};

/* -ENOMEM. */
int run_revisions_open(struct run_revisions *r, size_t nr);
/* Sets the revision of a run from its meta line: a line_take of query_lines(). */
void run_revisions_take(void *revisions, size_t at, const char *meta);
void run_revisions_done(struct run_revisions *r);

/*
 * Makes the trend of the first metric over the runs that succeeded. @revisions must live as long.
 * -ENOMEM; -EMLINK: the runs have several names, or several commands without a name.
 */
int trend_make(struct trend *t, const struct many_values *v, const struct run_revisions *revisions,
	       const struct stored_runs *all);
void trend_done(struct trend *t);
/* Prints the changes, and the last @limit (0: all) revisions. -ENOMEM. */
int trend_text(FILE *f, const struct trend *t, size_t limit, size_t width);
/* Writes one object; docs/MANY.md describes it. */
void trend_json(struct jsonw *j, const struct trend *t);

#endif

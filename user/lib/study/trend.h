/* SPDX-License-Identifier: BSD-2-Clause */
/* A metric over the git revisions of runs of one name. */
#ifndef STUDY_TREND_H
#define STUDY_TREND_H

#include "base/json.h"
#include "study/change.h"
#include "study/values.h"

#include <stdio.h>

#define REVISION_BYTES 65 /* of SHA-256, and the NUL */

/* The revisions of runs, by their places in the list; "": there is none. */
struct run_revisions {
	char (*of)[REVISION_BYTES]; /* owned */
};

struct revision {
	const char *id;
	uint64_t first_ns; /* when its first run began, since 1970 */
	size_t from, nr;   /* its values */
	double median;
};

struct trend_change {
	size_t revision;            /* since that */
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
	size_t nr_left; /* runs that have not ended well, or have no revision or no value */
	bool is_enough; /* else no change could be told from noise */
	double p;       /* that there is none at all */
	struct trend_change changes[MOST_CHANGES];
	size_t nr_changes;
};

/* -ENOMEM. */
int run_revisions_open(struct run_revisions *r, size_t nr);
/* Takes that of a run from its meta line: a line_take of query_lines(). */
void run_revisions_take(void *revisions, size_t at, const char *meta);
void run_revisions_done(struct run_revisions *r);

/*
 * Of the first metric, of the runs that ended well. @revisions must live as long. -ENOMEM; -EMLINK:
 * the runs are of several names, or of several commands without a name.
 */
int trend_make(struct trend *t, const struct many_values *v, const struct run_revisions *revisions,
	       const struct stored_runs *all);
void trend_done(struct trend *t);
/* Prints what changed, and the last @limit (0: all) revisions. -ENOMEM. */
int trend_text(FILE *f, const struct trend *t, size_t limit, size_t width);
/* One object; docs/MANY.md describes it. */
void trend_json(struct jsonw *j, const struct trend *t);

#endif

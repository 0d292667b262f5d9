/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of many runs are unusual among those of their name, or of their command where they have
 * none. */
#ifndef STUDY_UNUSUAL_H
#define STUDY_UNUSUAL_H

#include "base/json.h"
#include "study/robust.h"
#include "study/values.h"

#include <stdio.h>

#define LEAST_RUNS 8       /* that ended well, in a group that is judged */
#define USUAL_DISTANCE 3.5 /* as Iglewicz and Hoaglin (1993) have it */

/* A value that is far from those of the others. */
struct off_value {
	size_t metric; /* of the values */
	double value, z;
	struct robust usual;
};

struct unusual_run {
	size_t at; /* in the list of runs */
	bool has_failed, failure_is_unusual;
	size_t group_runs, group_failed; /* runs of its group, and those that failed */
	struct off_value *off;           /* owned; the farthest first */
	size_t nr_off;
	double score; /* the farthest distance; of a failure at least the threshold */
};

struct unusual {
	const struct many_values *values; /* not owned */
	const struct stored_runs *all;
	struct unusual_run *list; /* owned; the highest score first, of equal ones the newest */
	size_t nr, room;
	double threshold;
	size_t judged, groups;        /* runs that were compared, and the groups they are in */
	size_t few, few_groups;       /* of groups with fewer than LEAST_RUNS */
	size_t lacking[MOST_METRICS]; /* judged groups of which fewer have the metric */
	size_t going_on;              /* or cut off: not judged */
};

/*
 * A run is unusual where a value is @threshold scales or more from the median of those of its group
 * that ended well, a tenth of it, and an amount that matters; or it failed, which fewer than half
 * of its group did. Of a failed run only what is too large counts. -ENOMEM.
 */
int unusual_find(struct unusual *u, const struct many_values *v, const struct stored_runs *all,
		 double threshold);
void unusual_done(struct unusual *u);
/* Prints the first @limit (0: all) of them. @sources: prefixes of numbers, as for runs_table().
 * -ENOMEM. */
int unusual_text(FILE *f, const struct unusual *u, size_t limit, const char *const *sources,
		 size_t width);
/* One object; docs/MANY.md describes it. */
void unusual_json(struct jsonw *j, const struct unusual *u, size_t limit,
		  const char *const *sources);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of many runs are unusual among those of their name, or of their command where they have
 * none. */
#ifndef STUDY_UNUSUAL_H
#define STUDY_UNUSUAL_H

#include "base/json.h"
#include "study/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How far a value is from what is usual, whatever a few others are. */

struct robust {
	size_t nr;
	double median; /* of the values themselves */
	bool is_log;   /* distances are those of logarithms */
	double start;  /* added before the logarithm */
	double centre, scale;
};

/*
 * Of @n > 0 values, which it changes. Logarithms are taken where none is negative and the upper
 * tail is the longer one: the 90th percentile is farther from the median than the 10th by more than
 * a tenth of the distance of both; where some are 0, the median of the others is added before. The
 * scale is 1.4826 times the median absolute deviation, which is the standard deviation of normal
 * values; or the distance from the 10th to the 90th percentile over 2.5631, which is it, too, where
 * that is more: what every tenth run has is not unusual. Where both are 0, it is 1.2533 times the
 * mean absolute deviation.
 */
void robust_make(struct robust *r, double *values, size_t n);
/* The distance from the centre in scales; infinite where all values were the same and @value
 * is another. */
double robust_z(const struct robust *r, double value);

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

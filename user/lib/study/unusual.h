/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds runs that are unusual among those of the same name or, without a name, the same command. */
#ifndef STUDY_UNUSUAL_H
#define STUDY_UNUSUAL_H

#include "base/json.h"
#include "study/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Centre and scale of values, robust against a few outliers. */
struct robust {
	size_t nr;
	double median; /* of the values themselves */
	bool is_log;   /* centre and scale are of logarithms */
	double start;  /* added before the logarithm */
	double centre, scale;
};

/*
 * Computes them from @n > 0 values, and changes these. It takes logarithms if no value is negative
 * and the upper tail is longer: the 90th percentile is farther from the median than the 10th by
 * more than a tenth of the distance of both; if some values are 0, the median of the others is
 * added first. The scale is the larger of two estimates of the standard deviation: 1.4826 times the
 * median absolute deviation, and the distance from the 10th to the 90th percentile over 2.5631,
 * because the value of every tenth run is not unusual. If both are 0, it is 1.2533 times the mean
 * absolute deviation.
 */
void robust_make(struct robust *r, double *values, size_t n);
/*
 * Returns the distance of @value from the centre, in scales; infinite if all values were equal and
 * @value differs.
 */
double robust_z(const struct robust *r, double value);

#define LEAST_RUNS 8       /* successful runs of a group that say well what is usual */
#define LEAST_FEW 4        /* with fewer no value can be far from the others */
#define USUAL_DISTANCE 3.5 /* threshold of Iglewicz and Hoaglin (1993) */

struct off_value {
	size_t metric; /* index in the values */
	double value, z;
	struct robust usual;
};

struct unusual_run {
	size_t at; /* index in the list of runs */
	bool has_failed, failure_is_unusual;
	size_t group_runs, group_failed; /* number of runs and failed runs in its group */
	struct off_value *off;           /* owned; descending distance */
	size_t nr_off;
	double score; /* largest distance; for an unusual failure at least the threshold, or 0 */
};

struct unusual {
	const struct many_values *values; /* not owned */
	const struct stored_runs *all;
	struct unusual_run *list; /* owned; descending score, then the newest first */
	size_t nr, room;
	double threshold;
	size_t judged, groups;        /* number of runs and groups with LEAST_RUNS or more */
	size_t few, few_groups;       /* of the others, which are judged by the runs there are */
	size_t lacking[MOST_METRICS]; /* groups where too few of the runs have the metric */
	size_t going_on;              /* number of runs that have not ended, which are not judged */
};

/*
 * Finds runs that failed or are unusual: a value differs from the median of the successful runs of
 * its group by @threshold scales or more, by a tenth of the median, and by an amount that matters.
 * Only large values of a failed run count. A failure is unusual if fewer than half of its group
 * failed. Returns 0 or -ENOMEM.
 */
int unusual_find(struct unusual *u, const struct many_values *v, const struct stored_runs *all,
		 double threshold);
void unusual_done(struct unusual *u);
/*
 * Prints the first @limit (0: all) unusual runs. @sources are prefixes of numbers as for
 * runs_table(). Returns 0 or -ENOMEM.
 */
int unusual_text(FILE *f, const struct unusual *u, size_t limit, const char *const *sources,
		 size_t width);
/* Writes one object; docs/STUDY.md describes it. */
void unusual_json(struct jsonw *j, const struct unusual *u, size_t limit,
		  const char *const *sources);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of many runs: a number for each metric and run, if known. */
#ifndef STUDY_VALUES_H
#define STUDY_VALUES_H

#include "store/query.h"
#include "run/key.h"

#include <stdbool.h>
#include <stddef.h>

#define MOST_METRICS 16

struct many_metrics {
	size_t key[MOST_METRICS]; /* indexes of run/key.h */
	size_t nr;
};

/*
 * Parses a list like "wall,rss_peak_bytes" of summary keys and their short words. Returns 0, or in
 * *@bad and *@length the first wrong word and -ENOENT if it is unknown, -EEXIST if it is repeated,
 * or -E2BIG if it is one too many.
 */
int many_metrics_parse(struct many_metrics *m, const char *text, const char **bad, size_t *length);
void many_metrics_put(struct many_metrics *m, const char *key);

struct many_values {
	struct many_metrics metrics;
	size_t nr;     /* runs */
	double *value; /* owned; [metric][run], in the unit of the key; NAN if absent */
};

/* Sets the values that the list of runs has. Returns 0 or -ENOMEM. */
int many_values_open(struct many_values *v, const struct many_metrics *m,
		     const struct stored_runs *all);
void many_values_done(struct many_values *v);
/* Returns whether a metric is only in the summaries of runs. */
bool many_values_need_summaries(const struct many_values *v);
/* Sets the other values from a run's summary. A run_line_fn for query_lines(). */
void many_values_take(void *values, size_t at, const char *summary);

static inline double many_value(const struct many_values *v, size_t metric, size_t run)
{
	return v->value[metric * v->nr + run];
}

/*
 * Copies the known values of a metric, in order, to @to, which has room for all runs. Returns their
 * number.
 */
size_t many_values_known(const struct many_values *v, size_t metric, double *to);

/*
 * Walks over the members of a JSON object in place, which is faster than parsing the lines of many
 * runs.
 */
struct line_walk {
	const char *at;    /* after the current member */
	const char *key;   /* raw, without quotes */
	const char *value; /* raw */
	size_t key_length, value_length;
};

/* Starts at @line, which need not be an object. */
void line_walk_begin(struct line_walk *w, const char *line);
/* Advances to the next member. Returns false if there is none, or invalid JSON follows. */
bool line_walk_next(struct line_walk *w);
bool line_walk_is_at(const struct line_walk *w, const char *key);
/* Returns the value; NAN if it is not a number. */
double line_walk_number(const struct line_walk *w);

/*
 * Indexes of finished runs in a list, by group: runs of the same name or, without a name, the same
 * command. Groups are contiguous, the oldest run of each first.
 */
struct grouped_runs {
	size_t *at; /* owned */
	size_t nr;
};

int grouped_runs_make(struct grouped_runs *o, const struct stored_runs *all);
void grouped_runs_done(struct grouped_runs *o);
/* Returns the end of the group that begins at @from. */
size_t grouped_runs_group_end(const struct grouped_runs *o, const struct stored_runs *all,
			      size_t from);
/* Returns the name, else the command, else "". */
const char *run_group_name(const struct stored_run *r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Some metrics of many runs: a number of each run for each metric, as far as it is known. */
#ifndef STUDY_VALUES_H
#define STUDY_VALUES_H

#include "store/query.h"
#include "study/key.h"

#include <stdbool.h>
#include <stddef.h>

#define MOST_METRICS 16

struct many_metrics {
	size_t key[MOST_METRICS]; /* of compare/key.h */
	size_t nr;
};

/* Parses "wall,rss_peak_bytes": keys of a summary, or wall, cpu, peak, memory, processes. -EINVAL:
 * *@bad is the first that is none, or is there twice, or one too many. */
int many_metrics_parse(struct many_metrics *m, const char *text, const char **bad, size_t *length);
/* The short name @i of a key, and *@key, that key; NULL: there are no more. */
const char *many_metric_word(size_t i, const char **key);
/* Adds the key. */
void many_metrics_put(struct many_metrics *m, const char *key);

struct many_values {
	struct many_metrics metrics;
	size_t nr;     /* runs */
	double *value; /* owned; [metric][run], in the unit of the key; NAN: absent */
};

/* Takes what the list itself has of the runs. -ENOMEM. */
int many_values_open(struct many_values *v, const struct many_metrics *m,
		     const struct stored_runs *all);
void many_values_done(struct many_values *v);
/* Whether there is a metric that only the summaries have. */
bool many_values_need_summaries(const struct many_values *v);
/* Takes the rest from a run's summary: a line_take of query_lines(), with these values. */
void many_values_take(void *values, size_t at, const char *summary);

static inline double many_value(const struct many_values *v, size_t metric, size_t run)
{
	return v->value[metric * v->nr + run];
}

/*
 * Copies the known values of a metric to @to, which has room for all runs, in their order; returns
 * how many there are.
 */
size_t many_values_known(const struct many_values *v, size_t metric, double *to);

/*
 * The members of an object in JSON, one after the other, where they are: to take few values from
 * the lines of many runs costs no tree of each.
 */

struct line_walk {
	const char *at;    /* where the next one is looked for */
	const char *key;   /* as it is written, without its quotes */
	const char *value; /* its first character */
	size_t key_length, value_length;
};

/* Begins with the text @line, which need not be an object. */
void line_walk_begin(struct line_walk *w, const char *line);
/* Goes to the next member. False: there is none, or what follows is no JSON. */
bool line_walk_next(struct line_walk *w);
bool line_walk_is_at(const struct line_walk *w, const char *key);
/* The number that the value is; NAN: it is none. */
double line_walk_number(const struct line_walk *w);

/* Runs of the same program: of one name, or of one command where they have none. */

/* Places in a list of runs, those of a group next to each other, the oldest of it first. */
struct grouped_runs {
	size_t *at; /* owned */
	size_t nr;
};

/* Of the runs that have ended. -ENOMEM. */
int grouped_runs_make(struct grouped_runs *o, const struct stored_runs *all);
void grouped_runs_done(struct grouped_runs *o);
/* The place in the order behind the group that begins at @from. */
size_t grouped_runs_group_end(const struct grouped_runs *o, const struct stored_runs *all,
			      size_t from);
/* The name, else the command, else "". */
const char *run_group_name(const struct stored_run *r);

#endif

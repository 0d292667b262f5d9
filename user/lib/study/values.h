/* SPDX-License-Identifier: BSD-2-Clause */
/* Some metrics of many runs: a number of each run for each metric, as far as it is known. */
#ifndef STUDY_VALUES_H
#define STUDY_VALUES_H

#include "study/key.h"
#include "store/query.h"

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

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the rows of one run. Metrics without a column in the file are absent. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "run/process.h"
#include "run/sample.h"
#include "store/database.h"

/*
 * Prepare a statement with the rows of the run @id, in the order in which they were written; the
 * caller steps and finalizes it. @only: the metrics to read; NULL: all. Errors as database_open().
 */
int rows_of_samples(struct database *d, int64_t id, const struct metric_set *only,
		    sqlite3_stmt **s);
/* Samples later than @after_ns after the start. */
int rows_of_later_samples(struct database *d, int64_t id, uint64_t after_ns, sqlite3_stmt **s);
/* A long run with one row for many samples: the maximum of gauges, the last value of counters. All
 * samples of other runs. */
int rows_of_blocks(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s);
/* The instances of samples, in the order of these. */
int rows_of_instances(struct database *d, int64_t id, sqlite3_stmt **s);
int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s);
/* Process samples from @from_ns to @to_ns after the start. */
int rows_of_process_samples(struct database *d, int64_t id, uint64_t from_ns, uint64_t to_ns,
			    sqlite3_stmt **s);
/* Lines of all other kinds: the time since the start in ns, the line. */
int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s);
/* Spans in the order in which they ended. */
int rows_of_spans(struct database *d, int64_t id, sqlite3_stmt **s);

/*
 * Read the current row of a statement. -EUCLEAN: a value is not what its column holds, and @d->why
 * has its place; -ENOMEM.
 */
int row_sample(struct database *d, const struct metric_set *only, sqlite3_stmt *s,
	       struct sample *smp);
/* Adds an instance to @smp, unless that is full. */
int row_instance(struct database *d, sqlite3_stmt *s, struct sample *smp);
int row_process_sample(struct database *d, sqlite3_stmt *s, struct process_sample *p);
/* *@last: the number of the row before, INT64_MIN for the first; a cycle of pages would never end.
 * Strings are valid until the next step. *@args: the arguments as a list in JSON, or NULL. */
int row_process(struct database *d, sqlite3_stmt *s, int64_t *last, struct process *p,
		const char **args);
/* *@last as above; *@line is valid until the next step. */
int row_event(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* The same of a span. */
int row_span(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* Reads the time of a row, its first column. Processes and spans have none. */
int row_time(struct database *d, sqlite3_stmt *s, uint64_t *at_ns);

#endif

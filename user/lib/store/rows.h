/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the rows of one run from a store. Metrics without a column in the file are absent. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "run/process.h"
#include "run/sample.h"
#include "store/database.h"

/*
 * Prepares a statement for all samples of the run @id, in the order of writing. The caller steps
 * and finalizes it. @only has the metrics to read (NULL: all). This and the functions below fail as
 * database_open().
 */
int rows_of_samples(struct database *d, int64_t id, const struct metric_set *only,
		    sqlite3_stmt **s);
/*
 * Selects samples later than @from_ns after the start, up to @to_ns, and the one before them, from
 * which their rates count.
 */
int rows_of_samples_between(struct database *d, int64_t id, const struct metric_set *only,
			    uint64_t from_ns, uint64_t to_ns, sqlite3_stmt **s);
/* Selects samples later than @after_ns after the start. */
int rows_of_later_samples(struct database *d, int64_t id, uint64_t after_ns, sqlite3_stmt **s);
/*
 * Selects the blocks of a long run, each a row for many samples: the maximum of gauges, the last
 * value of counters; all samples of a short run.
 */
int rows_of_blocks(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s);
/* Selects the instances of all samples, in their order. */
int rows_of_instances(struct database *d, int64_t id, sqlite3_stmt **s);
int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s);
/* Selects process samples from @from_ns to @to_ns after the start. */
int rows_of_process_samples(struct database *d, int64_t id, uint64_t from_ns, uint64_t to_ns,
			    sqlite3_stmt **s);
/* Selects lines of all other kinds. */
int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s);
/* Selects spans in the order in which they ended. */
int rows_of_spans(struct database *d, int64_t id, sqlite3_stmt **s);

/*
 * Reads the current row; @only as for rows_of_samples(). This and the functions below return 0,
 * -ENOMEM, or -EUCLEAN if a value does not fit its column, which @d->why names.
 */
int row_sample(struct database *d, const struct metric_set *only, sqlite3_stmt *s,
	       struct sample *smp);
/* Adds an instance to @smp, unless that is full. */
int row_instance(struct database *d, sqlite3_stmt *s, struct sample *smp);
int row_process_sample(struct database *d, sqlite3_stmt *s, struct process_sample *p);
/*
 * Reads a process. Strings are valid until the next step. *@args is the JSON list of arguments, or
 * NULL. *@last is the number of the previous row, at first INT64_MIN; it must ascend, because a
 * cycle of pages would never end.
 */
int row_process(struct database *d, sqlite3_stmt *s, int64_t *last, struct process *p,
		const char **args);
/* Reads an event; *@last as for row_process(). *@line is valid until the next step. */
int row_event(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* Reads a span likewise. */
int row_span(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* Reads the time in the first column. Processes and spans have none. */
int row_time(struct database *d, sqlite3_stmt *s, uint64_t *at_ns);

#endif

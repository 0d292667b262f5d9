/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of one run, in the model's terms; what the file has no column for is absent. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "run/process.h"
#include "run/sample.h"
#include "store/database.h"

/*
 * @only: the metrics that are wanted; NULL: all. Statements whose rows are those of run @id, in the
 * order in which they came; the caller steps and finalizes them. Errors as database_open().
 */
int rows_of_samples(struct database *d, int64_t id, const struct metric_set *only,
		    sqlite3_stmt **s);
/* Those taken later than @after_ns after the start. */
int rows_of_later_samples(struct database *d, int64_t id, uint64_t after_ns, sqlite3_stmt **s);
/* All of a long run with one row for many samples: of a gauge the largest, of a counter the
 * last; a run that is not long is given whole. */
int rows_of_blocks(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s);
/* The instances of samples, in the order of these. */
int rows_of_instances(struct database *d, int64_t id, sqlite3_stmt **s);
int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s);
/* Only those of samples taken from @from_ns to @to_ns after the start. */
int rows_of_process_samples(struct database *d, int64_t id, uint64_t from_ns, uint64_t to_ns,
			    sqlite3_stmt **s);
/* Lines of all other kinds: the time since the start in ns, the line. */
int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s);
/* Spans in the order in which they ended. */
int rows_of_spans(struct database *d, int64_t id, sqlite3_stmt **s);

/*
 * The row at which a statement is. -EUCLEAN: a value is not what its column holds, and @d->why
 * names it; -ENOMEM.
 */
int row_sample(struct database *d, const struct metric_set *only, sqlite3_stmt *s,
	       struct sample *smp);
/* Adds an instance to @smp; one too many is left out. */
int row_instance(struct database *d, sqlite3_stmt *s, struct sample *smp);
int row_process_sample(struct database *d, sqlite3_stmt *s, struct process_sample *p);
/* *@last: the number of the row before, INT64_MIN for the first; pages that lead back to others
 * would never end. The strings are in use until the next step; the arguments are not in it, but in
 * *@args, a list in JSON or NULL. */
int row_process(struct database *d, sqlite3_stmt *s, int64_t *last, struct process *p,
		const char **args);
/* *@last as above; *@line: in use until the next step. */
int row_event(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* The same of a span. */
int row_span(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line);
/* The first column of the row, when it was; *@at_ns. Of all of these but processes and spans. */
int row_time(struct database *d, sqlite3_stmt *s, uint64_t *at_ns);

#endif

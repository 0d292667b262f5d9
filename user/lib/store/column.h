/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of metrics. A table holds what is stored, whole numbers in the unit at the column's
 * end (cpu_ns, rss_bytes, cores_milli); a view of it has the published keys (cpu_seconds, cores).
 */
#ifndef STORE_COLUMN_H
#define STORE_COLUMN_H

#include "run/metric.h"

#include <sqlite3.h>

#define COLUMN_BYTES 64

/* Writes the name into @out and returns it. */
char *column_name(char out[COLUMN_BYTES], enum metric_id id);
/* Those that a record of a process has; a sample has them all, of a process's sample see there. */
void columns_of_process(struct metric_set *set);
/* Those that the line of a span has, as a summary: all counters. */
void columns_of_span(struct metric_set *set);
/* Those that the table @name of the file has. An SQLite status. */
int columns_read(sqlite3 *db, const char *table, struct metric_set *have);
/* Adds those of @wanted that are not in @have, and makes the view, if there is to be one, anew of
 * all columns that the table has then. @is_new: this transaction has made it, and it is empty. */
int columns_add(sqlite3 *db, const char *table, const char *view, const struct metric_set *wanted,
		const struct metric_set *have, bool is_new);

#endif

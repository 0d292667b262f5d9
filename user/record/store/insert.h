/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements that are used for a whole run, made of the tables of columns. */
#ifndef RECORD_STORE_INSERT_H
#define RECORD_STORE_INSERT_H

#include "store/row_table.h"

/* To be finalized by the caller. Errors as database_open(). */
int statement_prepare(struct database *d, const char *sql, sqlite3_stmt **s);
/*
 * INSERT INTO @t, whose parameters are the run, the columns of @t by their names (":pid"), and
 * those of the set that @metrics gives, in this order.
 */
int insert_prepare(struct database *d, const struct stored_table *t,
		   void (*metrics)(struct metric_set *set), sqlite3_stmt **s);

#endif

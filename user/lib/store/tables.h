/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run has beside its row in `run`, and portions of it: much is never changed at once, so
 * that a recorder waits for no more than a portion, and memory is bounded.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include "store/database.h"

struct run_table {
	const char *name; /* its rows are of the run in their column `run` */
	const char *key;  /* what orders them; NULL: they are few */
	int since;        /* the schema that has it, and all later ones; 0: each */
};

/* Of a file of the schema @version. NULL: there are no more. */
const struct run_table *run_table_at(size_t i, int64_t version);

/* Begins as { .after = INT64_MIN }. */
struct portion {
	int64_t after, upto; /* keys */
	bool is_last;        /* it has all that is left, whatever @upto is */
};

/* The rows of @run after p->upto, or after p->after to begin with; errors as database_open(). */
int portion_next(struct database *d, const char *schema, const struct run_table *t, int64_t run,
		 struct portion *p);

#endif

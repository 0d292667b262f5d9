// SPDX-License-Identifier: BSD-2-Clause
#include "store/scale.h"

#include <errno.h>
#include <stdio.h>

int scale_read(struct database *d, struct scale *s)
{
	const struct run_table *t;
	int64_t bytes, rows;
	int err = 0;

	if (!sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB")) {
		snprintf(d->why, sizeof(d->why),
			 "a dry run takes sizes from SQLite's dbstat, which this SQLite lacks");
		return -ENOTSUP;
	}
	for (size_t i = 0; !err && i < SCALE_TABLES && (t = run_table_at(i, d->version)); i++) {
		/* no more than there are: pages may lead back to others */
		err = database_number(d, &bytes, NULL,
				      "SELECT sum(pgsize) FROM (SELECT pgsize FROM dbstat WHERE"
				      " name=%Q LIMIT (SELECT page_count FROM pragma_page_count))",
				      t->name);
		if (!err)
			err = database_number(d, &rows, NULL, "SELECT count(1) FROM %s", t->name);
		if (!err)
			s->row_bytes[i] = rows ? (double)bytes / (double)rows : 0;
	}
	return err;
}

int scale_weigh(struct database *d, const struct scale *s, int64_t run, int64_t *bytes)
{
	const struct run_table *t;
	double sum = 0;
	int64_t rows;
	int err = 0;

	for (size_t i = 0; !err && i < SCALE_TABLES && (t = run_table_at(i, d->version)); i++) {
		err = database_number(d, &rows, NULL, "SELECT count(*) FROM %s WHERE run=%lld",
				      t->name, (long long)run);
		if (!err)
			sum += s->row_bytes[i] * (double)rows;
	}
	*bytes = (int64_t)sum;
	return err;
}

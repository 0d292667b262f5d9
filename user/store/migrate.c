// SPDX-License-Identifier: BSD-2-Clause
#include "store/migrate.h"

#include "store/column.h"
#include "store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t v = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return v;
}

int database_check(struct database *d, int64_t *version)
{
	int64_t application = number(d->db, "PRAGMA application_id");
	int err = database_run(d, "SELECT count(*) FROM sqlite_master"); /* reads the header */

	*version = number(d->db, "PRAGMA user_version");
	if (err)
		return err;
	if (application != SCHEMA_APPLICATION &&
	    (application || number(d->db, "SELECT count(*) FROM sqlite_master"))) {
		snprintf(d->why, sizeof(d->why),
			 "it is another program's database; name another file with --store");
		return -EMEDIUMTYPE;
	}
	if (*version <= STORE_SCHEMA)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "a newer bpfmon has made it (schema %lld, this one knows %d): use that, or name "
		 "another file with --store",
		 (long long)*version, STORE_SCHEMA);
	return -EPROTONOSUPPORT;
}

static void wanted_columns(struct metric_set *samples, struct metric_set *processes)
{
	metric_set_all(samples);
	memset(processes, 0, sizeof(*processes));
	for (int i = 0; i < NR_METRICS; i++)
		if (column_is_of_process((enum metric_id)i))
			metric_put(processes, (enum metric_id)i);
}

int database_columns(struct database *d)
{
	struct metric_set samples, processes;
	int rc = columns_read(d->db, "sample", &d->sample_columns);

	wanted_columns(&samples, &processes);
	if (rc == SQLITE_OK)
		rc = columns_read(d->db, "process", &d->process_columns);
	/* others have the name of a metric, which is of samples: execs */
	for (size_t i = 0; i < METRIC_WORDS; i++)
		d->process_columns.bits[i] &= processes.bits[i];
	return database_error(d, rc);
}

static bool is_up_to_date(const struct database *d, int64_t version)
{
	struct metric_set samples, processes;

	wanted_columns(&samples, &processes);
	for (size_t i = 0; i < METRIC_WORDS; i++)
		if (samples.bits[i] & ~d->sample_columns.bits[i] ||
		    processes.bits[i] & ~d->process_columns.bits[i])
			return false;
	return version == STORE_SCHEMA;
}

static int add_columns(struct database *d)
{
	static const struct {
		const char *table, *view;
		bool is_process;
	} tables[] = {
		{ "sample", "samples", false },
		{ "block", NULL, false },
		{ "process", "processes", true },
	};
	struct metric_set wanted[2], have;
	int rc = SQLITE_OK;

	wanted_columns(&wanted[false], &wanted[true]);
	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(tables) / sizeof(*tables); i++) {
		rc = columns_read(d->db, tables[i].table, &have);
		if (rc == SQLITE_OK)
			rc = columns_add(d->db, tables[i].table, tables[i].view,
					 &wanted[tables[i].is_process], &have);
	}
	return database_error(d, rc);
}

static int migrate(struct database *d)
{
	int64_t version;
	int err = database_run(d, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = database_check(d, &version);
	for (; !err && version < STORE_SCHEMA; version++)
		err = database_run(d, schema_step((int)version));
	if (!err)
		err = add_columns(d);
	if (!err)
		err = database_run(d, "COMMIT");
	if (err)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return err ? err : database_columns(d);
}

int database_migrate(struct database *d, int64_t version)
{
	return is_up_to_date(d, version) ? 0 : migrate(d);
}

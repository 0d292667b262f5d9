// SPDX-License-Identifier: BSD-2-Clause
#include "store/migrate.h"

#include "model/process_sample.h"
#include "store/column.h"
#include "store/schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int database_check(struct database *d, int64_t *version)
{
	int64_t application = 0, nr_tables = 0;
	int err = database_number(d, &nr_tables, NULL, "SELECT count(*) FROM sqlite_master");

	if (!err)
		err = database_number(d, &application, NULL, "PRAGMA application_id");
	if (!err)
		err = database_number(d, version, NULL, "PRAGMA user_version");
	if (err)
		return err;
	if (application != SCHEMA_APPLICATION && (application || nr_tables)) {
		snprintf(d->why, sizeof(d->why),
			 "it is another program's database; name another file with --store");
		return -EMEDIUMTYPE;
	}
	d->version = *version;
	if (*version < 0)
		return database_error(d, SQLITE_CORRUPT);
	if (*version <= STORE_SCHEMA)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "a newer bpfmon has made it (schema %lld, this one knows %d): use that, or name "
		 "another file with --store",
		 (long long)*version, STORE_SCHEMA);
	return -EPROTONOSUPPORT;
}

/* The tables with columns of metrics. */
static const struct {
	const char *table, *view;
	void (*wanted)(struct metric_set *set);
	size_t have; /* where a database keeps those that the file has; 0: nowhere */
} tables[] = {
	{ "sample", "samples", metric_set_all, offsetof(struct database, sample_columns) },
	{ "block", NULL, metric_set_all, 0 },
	{ "process", "processes", columns_of_process, offsetof(struct database, process_columns) },
	{ "process_sample", "process_samples", process_sample_metrics,
	  offsetof(struct database, process_sample_columns) },
	{ "span", "spans", columns_of_span, 0 },
	{ "instance", "instances", metric_set_all, offsetof(struct database, instance_columns) },
};
#define NR_TABLES (sizeof(tables) / sizeof(*tables))

int database_columns(struct database *d)
{
	struct metric_set wanted;
	int rc = SQLITE_OK;

	for (size_t t = 0; rc == SQLITE_OK && t < NR_TABLES; t++) {
		struct metric_set *have = (void *)((char *)d + tables[t].have);

		if (!tables[t].have)
			continue;
		rc = columns_read(d->db, tables[t].table, have);
		tables[t].wanted(&wanted);
		/* others have the name of a metric, which is of samples: execs */
		for (size_t i = 0; i < METRIC_WORDS; i++)
			have->bits[i] &= wanted.bits[i];
	}
	return database_error(d, rc);
}

static bool schema_is_current(const struct database *d, int64_t version)
{
	struct metric_set wanted;

	for (size_t t = 0; t < NR_TABLES; t++) {
		const struct metric_set *have = (const void *)((const char *)d + tables[t].have);

		tables[t].wanted(&wanted);
		for (size_t i = 0; tables[t].have && i < METRIC_WORDS; i++)
			if (wanted.bits[i] & ~have->bits[i])
				return false;
	}
	return version == STORE_SCHEMA;
}

static int columns_add_missing(struct database *d, bool is_new)
{
	struct metric_set wanted, have;
	int rc = SQLITE_OK;

	for (size_t t = 0; rc == SQLITE_OK && t < NR_TABLES; t++) {
		rc = columns_read(d->db, tables[t].table, &have);
		tables[t].wanted(&wanted);
		if (rc == SQLITE_OK)
			rc = columns_add(d->db, tables[t].table, tables[t].view, &wanted, &have,
					 is_new);
	}
	return database_error(d, rc);
}

static int steps_make(struct database *d, void *context)
{
	int64_t version = 0;
	int err = database_check(d, &version);
	const bool is_new = !version; /* all its tables are made here */

	(void)context;
	for (; !err && version < STORE_SCHEMA; version++)
		err = database_error(d, schema_step(d->db, (int)version));
	if (!err)
		d->version = version;
	return err ? err : columns_add_missing(d, is_new);
}

static int schema_migrate(struct database *d)
{
	int err = database_transact(d, steps_make, NULL);

	return err ? err : database_columns(d);
}

int database_migrate(struct database *d, int64_t version)
{
	return schema_is_current(d, version) ? 0 : schema_migrate(d);
}

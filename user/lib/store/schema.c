// SPDX-License-Identifier: BSD-2-Clause
#include "store/schema.h"

#include "run/process.h"
#include "store/row_table.h"

#include <stdio.h>
#include <string.h>

/*
 * The tables that row_table.c does not describe. `run` is small because listing reads all of it;
 * the meta and summary lines are in `run_text`.
 */
static const char first_tables[] =
	"CREATE TABLE run("
	" id INTEGER PRIMARY KEY AUTOINCREMENT," /* AUTOINCREMENT: numbers are not reused */
	" uuid TEXT NOT NULL UNIQUE,"
	" name TEXT, job TEXT, command TEXT, cwd TEXT, user TEXT, uid INTEGER, host TEXT,"
	" start_time_ns INTEGER NOT NULL, interval_ns INTEGER,"
	" writer TEXT,"                      /* identity of the recorder, to check that it lives */
	" seen_time_ns INTEGER,"             /* last write of the recorder */
	" ended INTEGER NOT NULL DEFAULT 0," /* 1 if the summary is stored */
	" complete INTEGER, exit_code INTEGER, signal INTEGER,"
	" wall_ns INTEGER, cpu_ns INTEGER, rss_peak_bytes INTEGER, processes INTEGER,"
	" lines_lost INTEGER NOT NULL DEFAULT 0,"
	" note TEXT, edited_time_ns INTEGER," /* last edit of name, tags or note */
	" memory_needed_bytes INTEGER, memory_needed_witness TEXT, memory_needed_bound TEXT);"
	"CREATE INDEX run_name ON run(name);"
	"CREATE TABLE run_text(run INTEGER PRIMARY KEY, meta TEXT NOT NULL, summary TEXT);"
	"CREATE TABLE tag(run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT,"
	" PRIMARY KEY(run, key)) WITHOUT ROWID;";

/*
 * Runs in published units. cpus is the number that the command could use: the least of the
 * machine's CPUs, its affinity and its quota.
 */
static const char runs_view[] =
	"CREATE VIEW runs AS WITH described AS"
	" (SELECT run, CASE WHEN json_valid(meta) THEN meta END AS meta FROM run_text)"
	" SELECT id AS run, uuid, name, job, command, cwd, user, uid, host,"
	" start_time_ns / 1e9 AS start_time, interval_ns / 1e9 AS interval_seconds,"
	" ended, complete, exit_code, signal,"
	" CASE WHEN ended THEN ifnull(exit_code, 0) > 0 OR ifnull(signal, 0) > 0 END AS failed,"
	" wall_ns / 1e9 AS wall_seconds, cpu_ns / 1e9 AS cpu_seconds, rss_peak_bytes, processes,"
	" lines_lost,"
	" min(json_extract(meta, '$.system.cpus'),"
	" ifnull(json_extract(meta, '$.limits.cpus_allowed_count'), 1e9),"
	" ifnull(json_extract(meta, '$.limits.cpu_max_cores'), 1e9)) AS cpus,"
	" note, edited_time_ns / 1e9 AS edited_time, memory_needed_bytes, memory_needed_witness,"
	" memory_needed_bound"
	" FROM run LEFT JOIN described ON described.run = run.id;";

static const char last_statements[] = "CREATE INDEX span_name ON span(run, name);"
				      "PRAGMA application_id=%d; PRAGMA user_version=%d;";

void columns_of_process(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	metric_set_put_of_process(set);
}

void columns_of_span(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric_put(set, (enum metric_id)i);
}

static void columns_of_none(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
}

static const struct run_table tables[] = {
	{ .name = "run_text" },
	{ .name = "tag" },
	{ "sample", "elapsed_ns", &sample_table, metric_set_all, "samples" },
	/* a row for several samples: the maximum of gauges, the last value of counters */
	{ "block", "elapsed_ns", &block_table, metric_set_all, NULL },
	{ "process", "seq", &process_table, columns_of_process, "processes" },
	{ "process_sample", "elapsed_ns", &process_sample_table, process_sample_metrics,
	  "process_samples" },
	{ "event", "seq", &event_table, columns_of_none, NULL }, /* lines of all other kinds */
	{ "span", "seq", &span_table, columns_of_span, "spans" },
	{ "instance", "elapsed_ns", &instance_table, metric_set_all, "instances" },
	{ "signature", NULL, &signature_table, columns_of_none, NULL },
};

_Static_assert(sizeof(tables) / sizeof(*tables) == NR_RUN_TABLES, "NR_RUN_TABLES");

const struct run_table *run_table_at(size_t i)
{
	return i < NR_RUN_TABLES ? &tables[i] : NULL;
}

const struct run_table *run_table_find(const char *name)
{
	for (size_t i = 0; i < NR_RUN_TABLES; i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

/* Executes and frees @text. Returns an SQLite status. */
static int schema_run(sqlite3 *db, sqlite3_str *text)
{
	int rc = sqlite3_str_errcode(text);
	char *sql = sqlite3_str_finish(text);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return rc;
}

/* Prepares a query for the columns of @table. Returns NULL on error. */
static sqlite3_stmt *columns_select(sqlite3 *db, const char *table)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", -1, &s,
			       NULL) == SQLITE_OK &&
	    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
		return s;
	sqlite3_finalize(s);
	return NULL;
}

/* Appends a column of a view, converted from the stored to the published unit. */
static void view_put_column(sqlite3_str *sql, const char *column)
{
	static const struct {
		const char *stored, *published, *divisor;
	} endings[] = {
		{ "_time_ns", "_time", "1e9" }, { "_ns", "_seconds", "1e9" },
		{ "_milli", "", "1e3" },        { "_uj", "_joules", "1e6" },
		{ "_mw", "_watts", "1e3" },
	};
	size_t n = strlen(column);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t m = strlen(endings[i].stored);

		if (n <= m || strcmp(column + n - m, endings[i].stored) != 0)
			continue;
		sqlite3_str_appendf(sql, ", %s / %s AS %.*s%s", column, endings[i].divisor,
				    (int)(n - m), column, endings[i].published);
		return;
	}
	sqlite3_str_appendf(sql, ", %s", column);
}

/*
 * Recreates the view of a table with all columns of the file, including metrics that only another
 * bpfmon knows. Does nothing for a table without a view. Returns an SQLite status.
 */
static int view_make(sqlite3 *db, const struct run_table *t)
{
	sqlite3_stmt *info = t->view ? columns_select(db, t->name) : NULL;
	sqlite3_str *sql;
	int rc;

	if (!t->view)
		return SQLITE_OK;
	if (!info)
		return SQLITE_NOMEM;
	sql = sqlite3_str_new(db);
	sqlite3_str_appendf(sql, "DROP VIEW IF EXISTS %s; CREATE VIEW %s AS SELECT run", t->view,
			    t->view);
	while (sqlite3_step(info) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(info, 0);

		if (column && strcmp(column, "run") != 0)
			view_put_column(sql, column);
	}
	sqlite3_str_appendf(sql, " FROM %s", t->name);
	rc = sqlite3_finalize(info);
	if (rc == SQLITE_OK)
		return schema_run(db, sql);
	sqlite3_free(sqlite3_str_finish(sql));
	return rc;
}

int schema_make(sqlite3 *db, bool with_metrics)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	struct metric_set metrics;
	int rc;

	sqlite3_str_appendall(sql, first_tables);
	for (size_t i = 0; i < NR_RUN_TABLES; i++) {
		if (!tables[i].columns)
			continue;
		tables[i].metrics(&metrics);
		if (!with_metrics)
			columns_of_none(&metrics);
		table_put_create(sql, tables[i].columns, &metrics);
	}
	sqlite3_str_appendall(sql, runs_view);
	sqlite3_str_appendf(sql, last_statements, SCHEMA_APPLICATION, STORE_SCHEMA);
	rc = schema_run(db, sql);
	for (size_t i = 0; with_metrics && rc == SQLITE_OK && i < sizeof(tables) / sizeof(*tables);
	     i++)
		rc = view_make(db, &tables[i]);
	return rc;
}

/*
 * Compares first letters before it formats the name: it is called for each pair of a column and a
 * metric.
 */
static bool column_is_of(const char *column, enum metric_id id)
{
	char name[COLUMN_BYTES];

	return *column == *metric_get(id)->key && !strcmp(column, column_name(name, id));
}

int columns_read(sqlite3 *db, const char *table, struct metric_set *have)
{
	sqlite3_stmt *info = columns_select(db, table);

	memset(have, 0, sizeof(*have));
	if (!info)
		return sqlite3_errcode(db);
	while (sqlite3_step(info) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(info, 0);

		if (!column) {
			sqlite3_finalize(info);
			return SQLITE_NOMEM;
		}
		for (int i = 0; i < NR_METRICS; i++)
			if (column_is_of(column, (enum metric_id)i))
				metric_put(have, (enum metric_id)i);
	}
	return sqlite3_finalize(info);
}

static int table_add_columns(sqlite3 *db, const struct run_table *t, bool *has_added)
{
	struct metric_set wanted, have;
	char name[COLUMN_BYTES], sql[200];
	int rc = columns_read(db, t->name, &have);

	t->metrics(&wanted);
	for (int i = 0; rc == SQLITE_OK && i < NR_METRICS; i++) {
		if (!metric_has(&wanted, (enum metric_id)i) || metric_has(&have, (enum metric_id)i))
			continue;
		snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN %s INTEGER", t->name,
			 column_name(name, (enum metric_id)i));
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
		*has_added = true;
	}
	return rc;
}

int schema_add_columns(sqlite3 *db)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(tables) / sizeof(*tables); i++) {
		bool has_added = false;

		if (!tables[i].columns)
			continue;
		rc = table_add_columns(db, &tables[i], &has_added);
		if (rc == SQLITE_OK && has_added)
			rc = view_make(db, &tables[i]);
	}
	return rc;
}

#define ROWS_AT_ONCE 5000

int portion_next(struct database *d, const char *schema, const struct run_table *t, int64_t run,
		 struct portion *p)
{
	int err = database_number(d, &p->upto, &p->is_last,
				  "SELECT %s FROM %s.%s WHERE run=%lld AND %s>%lld ORDER BY %s"
				  " LIMIT 1 OFFSET %d",
				  t->key, schema, t->name, (long long)run, t->key,
				  (long long)p->after, t->key, ROWS_AT_ONCE - 1);

	/* a key that is not a number may sort after all numbers, and the loop would not end */
	if (!err && !p->is_last && p->upto <= p->after)
		err = database_error(d, SQLITE_CORRUPT);
	return err;
}
/*
 * Finds anything but plain tables, indexes and views. It matches `sql`, because SQLite executes
 * only that and the columns `type` and `name` may differ from it. SQLite itself refuses two tables
 * of the same name.
 */
static const char select_others[] =
	"SELECT type, name FROM sqlite_master WHERE ("
	" (type='table' AND sql GLOB 'CREATE TABLE *')"
	" OR (type='index' AND (sql IS NULL OR sql GLOB 'CREATE INDEX *'"
	" OR sql GLOB 'CREATE UNIQUE INDEX *'))"
	" OR (type='view' AND sql GLOB 'CREATE VIEW *')) IS NOT TRUE LIMIT 1";
/*
 * For the table ?1: whether it exists; whether it has a CHECK, which an integrity check would
 * evaluate without a bound on time; and whether it has a partial index or an index on an
 * expression.
 */
static const char select_table[] =
	"SELECT count(1), sum(upper(sql) GLOB '*[^A-Z0-9_]CHECK[^A-Z0-9_]*'),"
	" (SELECT count(1) FROM pragma_index_list(?1) AS i WHERE i.partial"
	" OR EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid=-2))"
	" FROM sqlite_master WHERE type='table' AND name=?1"
	" AND substr(sql, 1, 14 + length(?1))='CREATE TABLE ' || ?1 || '('";

/* Prepared once: a table of the file, its columns in the model, its columns in the file. */
struct shape_queries {
	sqlite3_stmt *table, *wanted, *found; /* owned */
};

static int check_prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));
}

static const char *text_at(sqlite3_stmt *s, int at)
{
	const char *text = (const char *)sqlite3_column_text(s, at);

	return text ? text : "";
}

static int schema_refuse_others(struct database *d)
{
	sqlite3_stmt *s = NULL;
	int err = check_prepare(d, select_others, &s), rc = SQLITE_DONE;

	if (!err) {
		rc = sqlite3_step(s);
		err = database_error(d, rc);
	}
	if (rc == SQLITE_ROW)
		err = database_damaged(d, "its schema has an unexpected %.20s '%.60s'",
				       text_at(s, 0), text_at(s, 1));
	sqlite3_finalize(s);
	return err;
}

static int table_check(struct database *d, sqlite3_stmt *s, const char *table)
{
	int rc = sqlite3_step(s), err = database_error(d, rc);

	if (!err && sqlite3_column_int(s, 0) != 1)
		err = database_damaged(d, "the table %s is missing", table);
	else if (!err && (sqlite3_column_int(s, 1) || sqlite3_column_int(s, 2)))
		err = database_damaged(
			d, "the table %s has an unexpected condition, or an index on an expression",
			table);
	return err;
}

static bool column_is_same(sqlite3_stmt *wanted, sqlite3_stmt *found)
{
	return !strcmp(text_at(wanted, 0), text_at(found, 0)) &&
	       !strcmp(text_at(wanted, 1), text_at(found, 1)) &&
	       sqlite3_column_int(wanted, 2) == sqlite3_column_int(found, 2);
}

/* The model's columns must appear in their order; metric columns may be between and after them. */
static int columns_check(struct database *d, const struct shape_queries *q, const char *table)
{
	int wanted = sqlite3_step(q->wanted), found = sqlite3_step(q->found);

	while (found == SQLITE_ROW) {
		if (sqlite3_column_int(q->found, 3))
			return database_damaged(
				d, "the column %.60s of the table %s is a generated column",
				text_at(q->found, 0), table);
		if (wanted == SQLITE_ROW && column_is_same(q->wanted, q->found))
			wanted = sqlite3_step(q->wanted);
		found = sqlite3_step(q->found);
	}
	if (found != SQLITE_DONE)
		return database_error(d, found);
	if (wanted == SQLITE_ROW)
		return database_damaged(d,
					"the table %s lacks the column %s, or it has another type",
					table, text_at(q->wanted, 0));
	return database_error(d, wanted);
}

static int table_check_shape(struct database *d, const struct shape_queries *q, const char *table)
{
	sqlite3_stmt *const all[] = { q->table, q->wanted, q->found };
	int rc = SQLITE_OK, err;

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(all) / sizeof(*all); i++)
		rc = sqlite3_bind_text(all[i], 1, table, -1, SQLITE_STATIC);
	err = database_error(d, rc);
	if (!err)
		err = table_check(d, q->table, table);
	if (!err)
		err = columns_check(d, q, table);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		sqlite3_reset(all[i]);
	return err;
}

static int tables_check_shape(struct database *d, sqlite3 *model)
{
	struct shape_queries q = { 0 };
	const struct run_table *t;
	int err = check_prepare(d, select_table, &q.table);

	if (!err)
		err = check_prepare(d, "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1)",
				    &q.found);
	if (!err)
		err = database_error(d, sqlite3_prepare_v2(model,
							   "SELECT name, type, pk FROM"
							   " pragma_table_info(?1)",
							   -1, &q.wanted, NULL));
	if (!err)
		err = table_check_shape(d, &q, "run");
	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		err = table_check_shape(d, &q, t->name);
	sqlite3_finalize(q.table);
	sqlite3_finalize(q.wanted);
	sqlite3_finalize(q.found);
	return err;
}

int schema_make_model(sqlite3 **db)
{
	int rc = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	return rc == SQLITE_OK ? schema_make(*db, false) : rc;
}

int schema_check(struct database *d)
{
	sqlite3 *model = NULL;
	int err = schema_refuse_others(d);

	if (!err)
		err = database_error(d, schema_make_model(&model));
	if (!err)
		err = tables_check_shape(d, model);
	sqlite3_close(model);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "store/merge.h"

#include "store/prune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a run has in each, by the column with its number. */
static const struct {
	const char *name, *key;
} tables[] = { { "run", "id" },
	       { "run_text", "run" },
	       { "tag", "run" },
	       { "sample", "run" },
	       { "block", "run" },
	       { "process", "run" },
	       { "process_sample", "run" },
	       { "event", "run" } };

static int prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));
}

int merge_decide(struct database *d, const char *uuid, bool has_ended, int64_t wall_ns,
		 enum merge_case *what, int64_t *id)
{
	sqlite3_stmt *s = NULL;
	int err = prepare(d, "SELECT id, ended, ifnull(wall_ns, 0) FROM run WHERE uuid=?", &s);
	int rc;

	*id = 0;
	*what = MERGE_ADD;
	if (err)
		return err;
	sqlite3_bind_text(s, 1, uuid, -1, SQLITE_STATIC);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		bool ended_here = sqlite3_column_int(s, 1);

		*id = sqlite3_column_int64(s, 0);
		*what = !ended_here && (has_ended || wall_ns > sqlite3_column_int64(s, 2))
				? MERGE_RENEW
				: MERGE_KNOWN;
	}
	sqlite3_finalize(s);
	return database_error(d, rc);
}

/* The columns that both files have, but for @key; by sqlite3_free(). */
static char *common_columns(struct database *d, const char *table, const char *key)
{
	sqlite3_str *list = sqlite3_str_new(NULL);
	sqlite3_stmt *s = NULL;

	if (!prepare(d,
		     "SELECT name FROM pragma_table_info(?1, 'main') INTERSECT"
		     " SELECT name FROM pragma_table_info(?1, 'other')",
		     &s)) {
		sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
		while (sqlite3_step(s) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(s, 0);

			if (strcmp(name, key) != 0)
				sqlite3_str_appendf(list, ", \"%w\"", name);
		}
	}
	sqlite3_finalize(s);
	return sqlite3_str_finish(list);
}

/* @to: 0: a number that is free, which is returned in it. */
static int copy_table(struct database *d, size_t t, int64_t from, int64_t *to)
{
	char *columns = common_columns(d, tables[t].name, tables[t].key);
	char number[32] = "NULL", *sql;
	int err;

	if (*to)
		sqlite3_snprintf(sizeof(number), number, "%lld", (long long)*to);
	sql = columns ? sqlite3_mprintf("INSERT INTO main.%s(%s%s) SELECT %s%s FROM other.%s"
					" WHERE %s=%lld",
					tables[t].name, tables[t].key, columns, number, columns,
					tables[t].name, tables[t].key, (long long)from)
		      : NULL;
	err = sql ? database_run(d, sql) : -ENOMEM;
	if (!err && !*to)
		*to = sqlite3_last_insert_rowid(d->db);
	sqlite3_free(columns);
	sqlite3_free(sql);
	return err;
}

struct other_run {
	int64_t id, wall_ns;
	bool has_ended;
	char uuid[64];
};

static int take_run(struct database *d, const struct other_run *r, struct merged *m)
{
	enum merge_case what;
	int64_t id;
	int err = merge_decide(d, r->uuid, r->has_ended, r->wall_ns, &what, &id);

	if (!err && what == MERGE_RENEW)
		err = store_remove_run(d, id);
	for (size_t t = 0; !err && what != MERGE_KNOWN && t < sizeof(tables) / sizeof(*tables); t++)
		err = copy_table(d, t, r->id, &id);
	if (!err) {
		m->added += what == MERGE_ADD;
		m->renewed += what == MERGE_RENEW;
		m->known += what == MERGE_KNOWN;
	}
	return err;
}

static int take_run_now(struct database *d, const struct other_run *r, struct merged *m)
{
	int err = database_run(d, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = take_run(d, r, m);
	if (!err)
		err = database_run(d, "COMMIT");
	if (err)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* The next run after @id; -ENOENT: there is none. */
static int next_run(struct database *d, int64_t id, struct other_run *r)
{
	sqlite3_stmt *s = NULL;
	int err = prepare(d,
			  "SELECT id, uuid, ended, ifnull(wall_ns, 0) FROM other.run WHERE id>?"
			  " ORDER BY id LIMIT 1",
			  &s),
	    rc;

	if (err)
		return err;
	sqlite3_bind_int64(s, 1, id);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		const char *uuid = (const char *)sqlite3_column_text(s, 1);

		*r = (struct other_run){ .id = sqlite3_column_int64(s, 0),
					 .has_ended = sqlite3_column_int(s, 2),
					 .wall_ns = sqlite3_column_int64(s, 3) };
		sqlite3_snprintf(sizeof(r->uuid), r->uuid, "%s", uuid ? uuid : "");
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? -ENOENT : database_error(d, rc);
}

static int attach(struct database *d, const char *path)
{
	char *sql = sqlite3_mprintf("ATTACH %Q AS other", path);
	int err = sql ? database_run(d, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

int merge_store(struct database *d, const char *path, struct merged *m)
{
	struct other_run r = { 0 };
	int err = attach(d, path);

	while (!err && !(err = next_run(d, r.id, &r)))
		err = take_run_now(d, &r, m);
	database_run(d, "DETACH other");
	return err == -ENOENT ? 0 : err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Writes the rows of a run itself, in `run`, `run_text`, `tag` and `signature`. */
#include "store/store_writer.h"

#include "base/memory.h"
#include "run/reader.h"
#include "run/tree.h"
#include "store/database.h"
#include "store/row_table.h"
#include "store/signatures.h"
#include "store/table_column.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_row_prepare(struct store_writer *w, const char *sql, sqlite3_stmt **s)
{
	return database_error(&w->d, sqlite3_prepare_v2(w->d.db, sql, -1, s, NULL));
}

static int run_row_finish(struct store_writer *w, sqlite3_stmt *s)
{
	int err = database_error(&w->d, sqlite3_step(s));

	sqlite3_finalize(s);
	return err;
}

static int tags_put(struct store_writer *w, json_t *meta)
{
	sqlite3_stmt *s;
	const char *key;
	json_t *v;
	int err = 0;

	json_object_foreach(json_object_get(meta, "tags"), key, v) {
		err = run_row_prepare(w, "INSERT OR REPLACE INTO tag VALUES(?,?,?)", &s);
		if (err)
			break;
		sqlite3_bind_int64(s, 1, w->run->id);
		sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
		if (json_is_string(v))
			sqlite3_bind_text(s, 3, json_string_value(v), (int)json_string_length(v),
					  SQLITE_STATIC);
		err = run_row_finish(w, s);
		if (err)
			break;
	}
	return err;
}

static int run_text_put(struct store_writer *w, const char *sql, const char *text, size_t length)
{
	sqlite3_stmt *s;
	int err;

	if (length > (size_t)VALUE_MIB << 20) {
		snprintf(w->d.why, sizeof(w->d.why),
			 "its %s line has %zu MiB, and a store accepts at most %d; write the run "
			 "to a file (-o), which show, export and report can read",
			 w->line.kind == LINE_META ? "meta" : "summary", length >> 20, VALUE_MIB);
		return -EFBIG;
	}
	err = run_row_prepare(w, sql, &s);
	if (err)
		return err;
	sqlite3_bind_int64(s, 1, w->run->id);
	sqlite3_bind_text(s, 2, text, (int)length, SQLITE_STATIC);
	return run_row_finish(w, s);
}

/* Appends the columns with that @written, as NAME, :NAME or NAME=:NAME. */
static void run_columns_put(sqlite3_str *sql, enum column_written written, bool has_name,
			    bool has_value)
{
	const char *between = "";

	for (size_t i = 0; i < run_table.nr; i++) {
		const char *name = run_table.columns[i].name;

		if (run_table.columns[i].written != written)
			continue;
		sqlite3_str_appendf(sql, "%s%s%s%s%s", between, has_name ? name : "",
				    has_name && has_value ? "=" : "", has_value ? ":" : "",
				    has_value ? name : "");
		between = ",";
	}
}

/* Prepares the statement @text and frees the text. */
static int run_row_prepare_text(struct store_writer *w, sqlite3_str *text, sqlite3_stmt **s)
{
	char *sql = sqlite3_str_finish(text);
	int err = sql ? run_row_prepare(w, sql, s) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

static int run_row_prepare_begin(struct store_writer *w, sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(w->d.db);

	sqlite3_str_appendall(sql, "INSERT INTO run(");
	run_columns_put(sql, WRITTEN_FIRST, true, false);
	sqlite3_str_appendall(sql, ") VALUES(");
	run_columns_put(sql, WRITTEN_FIRST, false, true);
	sqlite3_str_appendall(sql, ")");
	return run_row_prepare_text(w, sql, s);
}

static int run_row_prepare_end(struct store_writer *w, sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(w->d.db);

	sqlite3_str_appendall(sql, "UPDATE run SET ended=1,");
	run_columns_put(sql, WRITTEN_AT_END, true, true);
	sqlite3_str_appendall(sql, " WHERE id=:id");
	return run_row_prepare_text(w, sql, s);
}

int run_row_begin(struct store_writer *w, const char *text, size_t length)
{
	char *command;
	json_t *meta = w->line.tree;
	sqlite3_stmt *s;
	int err = run_row_prepare_begin(w, &s);

	if (err)
		return err;
	columns_bind(s, 1, &run_table, WRITTEN_FIRST, meta);
	command = tree_command_text(meta);
	if (command)
		sqlite3_bind_text(s, parameter_find(s, ":command"), command, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, parameter_find(s, ":start_time_ns"),
			   (int64_t)(w->line.start_epoch_ns & INT64_MAX)); /* NOT NULL */
	amount_bind(s, parameter_find(s, ":interval_ns"),
		    member_read_number(meta, "interval_seconds", 9));
	sqlite3_bind_text(s, parameter_find(s, ":writer"), w->self, -1, SQLITE_STATIC);
	if (w->renews)
		sqlite3_bind_int64(s, parameter_find(s, ":id"), w->renews);
	w->renews = 0;
	err = run_row_finish(w, s);
	free(command);
	if (err)
		return err;
	w->run->id = sqlite3_last_insert_rowid(w->d.db);
	err = tags_put(w, meta);
	return err ? err
		   : run_text_put(w, "INSERT INTO run_text(run,meta) VALUES(?,?)", text, length);
}

static int run_row_take_over(struct store_writer *w)
{
	sqlite3_stmt *s;
	int err = run_row_prepare(w, "UPDATE run SET writer=?2 WHERE id=?1", &s);

	if (err)
		return err;
	sqlite3_bind_int64(s, 1, w->run->id);
	sqlite3_bind_text(s, 2, w->self, -1, SQLITE_STATIC);
	return run_row_finish(w, s);
}

int store_writer_resume(struct store_writer *w, const char *uuid)
{
	bool is_none = false, has_none = false;
	int64_t peak = 0;
	int err = database_number(&w->d, &w->run->id, &is_none, "SELECT id FROM run WHERE uuid=%Q",
				  uuid);

	if (!err && !is_none)
		err = database_number(&w->d, &peak, &has_none,
				      "SELECT rss_peak_bytes FROM run WHERE id=%lld",
				      (long long)w->run->id);
	if (err || is_none)
		return err;
	w->run->has_rss = !has_none && peak >= 0;
	w->run->rss_peak_bytes = w->run->has_rss ? (uint64_t)peak : 0;
	return run_row_take_over(w);
}

static void peak_bind(sqlite3_stmt *s, int at, const struct summary *t)
{
	if (t->has_rss_peak_exact)
		amount_bind(s, at, t->rss_peak_exact_bytes);
	else if (t->has_rss_peak)
		amount_bind(s, at, t->rss_peak_bytes);
}

/* Binds the derived value, because not all lines have it. */
static void needed_bind(sqlite3_stmt *s, const struct memory_needed *n)
{
	if (!*n->witness)
		return;
	amount_bind(s, parameter_find(s, ":memory_needed_bytes"), n->bytes);
	sqlite3_bind_text(s, parameter_find(s, ":memory_needed_witness"), n->witness, -1,
			  SQLITE_STATIC);
	sqlite3_bind_text(s, parameter_find(s, ":memory_needed_bound"), n->bound, -1,
			  SQLITE_STATIC);
}

/* Computes the signature from the stored samples and the summary. */
static int run_row_sign(struct store_writer *w)
{
	struct memory_shape shape = { 0 };
	struct signature g;
	int err = signature_read_shape(&w->d, w->run->id, &shape);

	if (!err)
		err = signature_make(&g, &w->line.summary, &shape);
	return err ? err : signature_write(&w->d, w->run->id, &g);
}

int run_row_end(struct store_writer *w, const char *text, size_t length)
{
	const struct summary *t = &w->line.summary;
	const struct memory_needed needed = memory_needed_of(t);
	sqlite3_stmt *s;
	int err = run_row_prepare_end(w, &s);

	if (err)
		return err;
	columns_bind(s, 1, &run_table, WRITTEN_AT_END, w->line.tree);
	amount_bind(s, parameter_find(s, ":wall_ns"), t->wall_ns);
	if (sample_has(&t->total, M_cpu))
		amount_bind(s, parameter_find(s, ":cpu_ns"), t->total.value[M_cpu]);
	peak_bind(s, parameter_find(s, ":rss_peak_bytes"), t);
	needed_bind(s, &needed);
	sqlite3_bind_int64(s, parameter_find(s, ":id"), w->run->id);
	err = run_row_finish(w, s);
	if (!err)
		err = database_check_update(&w->d);
	if (!err)
		err = run_text_put(w, "UPDATE run_text SET summary=?2 WHERE run=?1", text, length);
	return err ? err : run_row_sign(w);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "store/signatures.h"

#include "run/tree.h"
#include "store/database.h"
#include "store/row_table.h"
#include "store/rows.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

int signature_read_shape(struct database *d, int64_t id, struct memory_shape *m)
{
	struct metric_set only = { 0 };
	struct sample smp = { 0 };
	sqlite3_stmt *s = NULL;
	int err, rc = SQLITE_DONE;

	metric_put(&only, M_rss);
	metric_put(&only, M_rss_anon);
	err = rows_of_blocks(d, id, &only, &s);
	while (!err && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		err = row_sample(d, &only, s, &smp);
		if (!err)
			memory_shape_add(m, &smp);
	}
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(s);
	return err;
}

static int write_prepare(struct database *d, sqlite3_stmt **s)
{
	sqlite3_str *text = sqlite3_str_new(d->db);
	char *sql;
	int rc;

	sqlite3_str_appendall(text, "INSERT OR REPLACE INTO signature(run");
	for (size_t i = 0; i < signature_table.nr; i++)
		sqlite3_str_appendf(text, ",%s", signature_table.columns[i].name);
	sqlite3_str_appendall(text, ") SELECT id");
	for (size_t i = 0; i < signature_table.nr; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, " FROM run WHERE id=?");
	sql = sqlite3_str_finish(text);
	rc = sql ? sqlite3_prepare_v2(d->db, sql, -1, s, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return database_error(d, rc);
}

int signature_write(struct database *d, int64_t id, const struct signature *g)
{
	char programs[SIGNATURE_TEXT_BYTES];
	sqlite3_stmt *s = NULL;
	int err = write_prepare(d, &s), at = 1, rc;

	if (err)
		return err;
	signature_format_programs(g, programs);
	sqlite3_bind_int(s, at++, SIGNATURE_VERSION);
	rc = g->nr_programs ? sqlite3_bind_text(s, at, programs, -1, SQLITE_STATIC) : SQLITE_OK;
	at++;
	for (int i = 0; i < NR_SIGNATURE_DIMENSIONS; i++, at++)
		if (g->has[i])
			sqlite3_bind_int(s, at, g->milli[i]);
	sqlite3_bind_int64(s, at, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	err = database_error(d, rc);
	sqlite3_finalize(s);
	return err;
}

static int each_prepare(struct database *d, sqlite3_stmt **s)
{
	sqlite3_str *text = sqlite3_str_new(d->db);
	char *sql;
	int rc;

	sqlite3_str_appendall(text, "SELECT ");
	table_put_names(text, &signature_table);
	sqlite3_str_appendall(text, ",run FROM signature ORDER BY run");
	sql = sqlite3_str_finish(text);
	rc = sql ? sqlite3_prepare_v2(d->db, sql, -1, s, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return database_error(d, rc);
}

static int signature_emit(struct row *r, int64_t *last, signature_fn fn, void *context)
{
	struct signature_row row = { 0 };
	int at = row_read(r, &signature_table, &row);
	int64_t id = row_number(r, at);

	row_check_order(r, id, last);
	if (r->err || row.version != SIGNATURE_VERSION)
		return r->err;
	signature_parse_programs(&row.signature, row.programs);
	return fn(context, id, &row.signature);
}

int signature_each(struct database *d, signature_fn fn, void *context)
{
	struct row r = { .d = d, .table = "signature" };
	int64_t last = INT64_MIN;
	int err, rc = SQLITE_DONE;

	err = each_prepare(d, &r.s);
	while (!err && (rc = sqlite3_step(r.s)) == SQLITE_ROW)
		err = signature_emit(&r, &last, fn, context);
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(r.s);
	return err;
}

struct reading {
	struct memory_shape shape;
	char *uuid, **command; /* @command may be NULL */
};

static int signed_run_take(void *context, struct line *l)
{
	struct reading *r = context;
	const char *uuid;

	if (l->kind == LINE_SAMPLE) {
		memory_shape_add(&r->shape, &l->sample);
	} else if (l->kind == LINE_META) {
		uuid = json_string_value(json_object_get(l->tree, "run"));
		snprintf(r->uuid, SIGNED_UUID_BYTES, "%s", uuid ? uuid : "");
		if (r->command && !*r->command)
			*r->command = tree_command_text(l->tree);
	}
	return 0;
}

int signed_run_read(struct source *s, struct signature *g, char uuid[SIGNED_UUID_BYTES],
		    char **command)
{
	struct reading r = { .uuid = uuid, .command = command };
	struct summary total = { 0 };
	bool is_folded;
	int err = source_summary(s, &total, &is_folded);

	*uuid = '\0';
	if (command)
		*command = NULL;
	if (!err)
		err = source_each(s, PART(LINE_META) | PART(LINE_SAMPLE), signed_run_take, &r);
	if (!err)
		err = signature_make(g, &total, &r.shape);
	summary_done(&total);
	return err;
}

static int summary_sign(struct database *d, int64_t id, const char *summary, struct signature *g)
{
	struct memory_shape shape = { 0 };
	struct line line = { 0 };
	int err = line_read(&line, summary, strlen(summary));

	if (err == -EBADMSG || (!err && line.kind != LINE_SUMMARY))
		err = -ENODATA;
	if (!err)
		err = signature_read_shape(d, id, &shape);
	if (!err)
		err = signature_make(g, &line.summary, &shape);
	line_done(&line);
	return err;
}

int signed_run_of_store(struct database *d, int64_t id, struct signature *g)
{
	struct run_text text;
	int err = query_text(d, id, &text);

	if (err)
		return err == -ENOENT ? -ENODATA : err;
	err = text.summary ? summary_sign(d, id, text.summary, g) : -ENODATA;
	run_text_done(&text);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "store/edit.h"

#include "base/jansson_memory.h"
#include "run/reader.h"
#include "store/query.h"
#include "store/table_column.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct edit {
	int64_t id;
	const struct meta_changes *changes; /* NULL: copy name, note and tags of @from */
	const json_t *from;
};

/* Binds a string; other values stay NULL. */
static void edit_bind(sqlite3_stmt *s, int at, const json_t *v)
{
	if (json_is_string(v))
		sqlite3_bind_text(s, at, json_string_value(v), (int)json_string_length(v),
				  SQLITE_STATIC);
}

static int edit_finish(struct database *d, sqlite3_stmt *s)
{
	int err = database_error(d, sqlite3_step(s));

	sqlite3_finalize(s);
	return err;
}

static int edit_prepare(struct database *d, const char *sql, int64_t id, sqlite3_stmt **s)
{
	int err = database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));

	if (!err)
		sqlite3_bind_int64(*s, 1, id);
	return err;
}

static int edit_put_row(struct database *d, int64_t id, const json_t *meta)
{
	sqlite3_stmt *s;
	int err = edit_prepare(d, "UPDATE run SET name=?2, note=?3, edited_time_ns=?4 WHERE id=?1",
			       id, &s);

	if (err)
		return err;
	edit_bind(s, 2, json_object_get(meta, "name"));
	edit_bind(s, 3, json_object_get(meta, "note"));
	time_bind(s, 4, member_read_epoch(meta, "edited_time"));
	err = edit_finish(d, s);
	return err ? err : database_check_update(d);
}

static int edit_put_line(struct database *d, int64_t id, const char *text, size_t length)
{
	sqlite3_stmt *s;
	int err = edit_prepare(d, "UPDATE run_text SET meta=?2 WHERE run=?1", id, &s);

	if (err)
		return err;
	sqlite3_bind_text(s, 2, text, (int)length, SQLITE_STATIC);
	return edit_finish(d, s);
}

static int edit_put_tags(struct database *d, int64_t id, json_t *meta)
{
	int err = database_runf(d, "DELETE FROM tag WHERE run=%lld", (long long)id);
	sqlite3_stmt *s;
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(meta, "tags"), key, v) {
		if (!err)
			err = edit_prepare(d, "INSERT OR REPLACE INTO tag VALUES(?,?,?)", id, &s);
		if (err)
			break;
		sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
		edit_bind(s, 3, v);
		err = edit_finish(d, s);
	}
	return err;
}

static int edit_fail(struct database *d, int err)
{
	if (err == -EILSEQ)
		snprintf(d->why, sizeof(d->why), "the new value is not valid UTF-8");
	else if (err == -E2BIG)
		snprintf(d->why, sizeof(d->why), "it would have more than %d tags", MAX_TAGS);
	else if (err == -EBADMSG)
		snprintf(d->why, sizeof(d->why), "its meta line is invalid");
	else
		snprintf(d->why, sizeof(d->why), "%s", strerror(-err));
	return err;
}

static int edit_make(struct database *d, void *context)
{
	const struct edit *e = context;
	struct run_text t = { 0 };
	struct jsonw j = { 0 };
	json_t *meta = NULL;
	int err = query_text(d, e->id, &t);

	if (!err) {
		size_t length = strlen(t.meta);

		err = e->changes ? meta_edit(&j, t.meta, length, e->changes, &meta)
				 : meta_copy_edits(&j, t.meta, length, e->from, &meta);
		if (err)
			edit_fail(d, err);
	} else if (err == -ENOENT) {
		snprintf(d->why, sizeof(d->why), "the run has been removed");
	}
	if (!err)
		err = edit_put_row(d, e->id, meta);
	if (!err)
		err = edit_put_line(d, e->id, j.text, j.used);
	if (!err)
		err = edit_put_tags(d, e->id, meta);
	json_decref(meta);
	jsonw_done(&j);
	run_text_done(&t);
	return err;
}

int store_edit_run(struct database *d, int64_t id, const struct meta_changes *c)
{
	struct edit e = { .id = id, .changes = c };

	return database_transact(d, edit_make, &e);
}

int store_copy_words(struct database *d, int64_t id, const char *from)
{
	json_t *meta = jansson_loads(from, JSON_ALLOW_NUL, NULL);
	struct edit e = { .id = id, .from = meta };
	int err = json_is_object(meta) ? edit_make(d, &e) : 0;

	json_decref(meta);
	return err == -EBADMSG ? 0 : err;
}

int store_replace_meta(struct database *d, int64_t id, const char *text)
{
	json_t *meta = jansson_loads(text, JSON_ALLOW_NUL, NULL);
	bool is_unedited = false;
	int64_t at_ns;
	int err = database_number(d, &at_ns, &is_unedited,
				  "SELECT edited_time_ns FROM run WHERE id = %lld", (long long)id);

	if (!err && is_unedited && json_is_object(meta)) {
		err = edit_put_row(d, id, meta);
		if (!err) /* the user of a job may be known only now */
			err = database_runf(d, "UPDATE run SET user=%Q, uid=%lld WHERE id=%lld",
					    json_string_value(json_object_get(meta, "user")),
					    json_integer_value(json_object_get(meta, "uid")),
					    (long long)id);
		if (!err)
			err = edit_put_line(d, id, text, strlen(text));
	}
	json_decref(meta);
	return err;
}

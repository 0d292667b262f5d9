// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/run_row.h"

#include "record/store/bind.h"
#include "store/identity.h"
#include "view/meta_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int prepare(struct store_writer *w, const char *sql, sqlite3_stmt **s)
{
	return database_error(&w->d, sqlite3_prepare_v2(w->d.db, sql, -1, s, NULL));
}

/* Runs it once. */
static int finish(struct store_writer *w, sqlite3_stmt *s)
{
	int err = database_error(&w->d, sqlite3_step(s));

	sqlite3_finalize(s);
	return err;
}

/* The command in one line, or what was attached to; NULL: it was left out. To be freed. */
static char *command_text(const json_t *meta)
{
	const json_t *command = json_object_get(meta, "command");
	const json_t *attached = json_object_get(meta, "attached");
	const char *container = json_string_value(json_object_get(attached, "container"));
	const char *cgroup = json_string_value(json_object_get(attached, "cgroup"));
	char *text = NULL;
	size_t length;
	FILE *f;

	if (!command && !attached)
		return NULL;
	f = open_memstream(&text, &length);
	if (!f)
		return NULL;
	if (command) {
		meta_words(f, command);
	} else if (container || cgroup) {
		fprintf(f, "attached to %s %s", container ? "container" : "cgroup",
			container ? container : cgroup);
	} else {
		fputs("attached to ", f);
		meta_words(f, json_object_get(attached, "pids"));
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int put_tags(struct store_writer *w, json_t *meta)
{
	sqlite3_stmt *s;
	const char *key;
	json_t *v;
	int err = 0;

	json_object_foreach(json_object_get(meta, "tags"), key, v) {
		err = prepare(w, "INSERT OR REPLACE INTO tag VALUES(?,?,?)", &s);
		if (err)
			break;
		sqlite3_bind_int64(s, 1, w->run);
		sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
		if (json_is_string(v))
			sqlite3_bind_text(s, 3, json_string_value(v), (int)json_string_length(v),
					  SQLITE_STATIC);
		err = finish(w, s);
		if (err)
			break;
	}
	return err;
}

static int put_text(struct store_writer *w, const char *sql, const char *text, size_t length)
{
	sqlite3_stmt *s;
	int err = prepare(w, sql, &s);

	if (err)
		return err;
	sqlite3_bind_int64(s, 1, w->run);
	sqlite3_bind_text(s, 2, text, (int)length, SQLITE_STATIC);
	return finish(w, s);
}

int run_row_begin(struct store_writer *w, const char *text, size_t length)
{
	char writer[IDENTITY_BYTES], *command;
	json_t *meta = w->line.tree;
	sqlite3_stmt *s;
	int err = prepare(w,
			  "INSERT INTO run(uuid,name,job,cwd,user,host,uid,command,start_time_ns,"
			  "interval_ns,writer,id) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
			  &s);
	static const char *const texts[] = { "run", "name", "job", "cwd", "user", "host" };
	int at = 1;

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		bind_text(s, at++, meta, texts[i]);
	bind_u32(s, at++, meta, "uid");
	command = command_text(meta);
	if (command)
		sqlite3_bind_text(s, at, command, -1, SQLITE_STATIC);
	at++;
	sqlite3_bind_int64(s, at++, (int64_t)(w->line.start_epoch_ns & INT64_MAX)); /* never NULL */
	bind_amount(s, at++, json_number_of(meta, "interval_seconds", 9));
	identity_self(writer);
	sqlite3_bind_text(s, at++, writer, -1, SQLITE_STATIC);
	if (w->renews)
		sqlite3_bind_int64(s, at, w->renews);
	w->renews = 0;
	err = finish(w, s);
	free(command);
	if (err)
		return err;
	w->run = sqlite3_last_insert_rowid(w->d.db);
	err = put_tags(w, meta);
	return err ? err : put_text(w, "INSERT INTO run_text(run,meta) VALUES(?,?)", text, length);
}

static void bind_peak(sqlite3_stmt *s, int at, const struct summary *t)
{
	if (t->has_rss_peak_exact)
		bind_amount(s, at, t->rss_peak_exact_bytes);
	else if (t->has_rss_peak)
		bind_amount(s, at, t->rss_peak_bytes);
}

int run_row_end(struct store_writer *w, const char *text, size_t length)
{
	const struct summary *t = &w->line.summary;
	const json_t *o = w->line.tree;
	sqlite3_stmt *s;
	int err = prepare(w,
			  "UPDATE run SET ended=1, complete=?, exit_code=?, signal=?, wall_ns=?,"
			  " cpu_ns=?, rss_peak_bytes=?, processes=? WHERE id=?",
			  &s);

	if (err)
		return err;
	bind_int(s, 1, o, "complete");
	bind_int(s, 2, o, "exit_code");
	bind_int(s, 3, o, "signal");
	bind_amount(s, 4, t->wall_ns);
	if (sample_has(&t->total, M_cpu))
		bind_amount(s, 5, t->total.value[M_cpu]);
	bind_peak(s, 6, t);
	bind_number(s, 7, o, "processes_total", 0, INT64_MAX);
	sqlite3_bind_int64(s, 8, w->run);
	err = finish(w, s);
	if (!err)
		err = database_check_update(&w->d);
	w->has_ended = true;
	return err ? err : put_text(w, "UPDATE run_text SET summary=?2 WHERE run=?1", text, length);
}

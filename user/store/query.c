// SPDX-License-Identifier: BSD-2-Clause
#include "store/query.h"

#include "store/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of run_of(); ?1 to ?8 as bound by bind_filter(). */
static const char select_runs[] =
	"SELECT id, uuid, name, job, command, user, host, start_time_ns, ended, complete,"
	" exit_code, signal, wall_ns, cpu_ns, rss_peak_bytes, processes, lines_lost, writer,"
	" seen_time_ns, interval_ns FROM run WHERE (?1 = 0 OR id = ?1)"
	" AND (?2 IS NULL OR substr(uuid, 1, length(?2)) = ?2)"
	" AND (?3 IS NULL OR name GLOB ?3) AND (?4 IS NULL OR host GLOB ?4)"
	" AND (?5 IS NULL OR job = ?5) AND (?6 IS NULL OR user = ?6)"
	" AND (?7 IS NULL OR instr(command, ?7)) AND start_time_ns >= ?8"
	" AND (?9 IS NULL OR name = ?9) ORDER BY id DESC";

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/*
 * Of a pattern only * and ? stand for anything, as our users are told; GLOB would take brackets
 * for a set of characters, and a name as "job[1]" would not even find itself.
 */
static void bind_pattern(sqlite3_stmt *s, int at, const char *text)
{
	char *pattern = text ? malloc(3 * strlen(text) + 1) : NULL, *to = pattern;

	if (!pattern) {
		sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
		return;
	}
	for (; *text; text++) {
		if (*text == '[')
			*to++ = '[';
		*to++ = *text;
		if (*text == '[')
			*to++ = ']';
	}
	*to = '\0';
	sqlite3_bind_text(s, at, pattern, -1, free);
}

static void bind_filter(sqlite3_stmt *s, const struct run_filter *f)
{
	sqlite3_bind_int64(s, 1, f->id);
	bind_text(s, 2, f->uuid);
	bind_pattern(s, 3, f->name);
	bind_pattern(s, 4, f->host);
	bind_text(s, 5, f->job);
	bind_text(s, 6, f->user);
	bind_text(s, 7, f->command);
	sqlite3_bind_int64(s, 8, (int64_t)f->since_ns);
	bind_text(s, 9, f->exact_name);
}

static char *text_of(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? strdup(text) : NULL;
}

static int64_t number_of(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, column);
}

/* Of one that has no summary yet; what was taken over from a file is as it is. */
static bool goes_on(sqlite3_stmt *s)
{
	return identity_goes_on((const char *)sqlite3_column_text(s, 17),
				(uint64_t)sqlite3_column_int64(s, 18),
				(uint64_t)sqlite3_column_int64(s, 19));
}

static struct stored_run run_of(sqlite3_stmt *s)
{
	return (struct stored_run){
		.id = sqlite3_column_int64(s, 0),
		.uuid = text_of(s, 1),
		.name = text_of(s, 2),
		.job = text_of(s, 3),
		.command = text_of(s, 4),
		.user = text_of(s, 5),
		.host = text_of(s, 6),
		.start_epoch_ns = (uint64_t)sqlite3_column_int64(s, 7),
		.state = sqlite3_column_int(s, 8) ? RUN_FINISHED
			 : goes_on(s)             ? RUN_RUNNING
						  : RUN_UNFINISHED,
		.is_complete = sqlite3_column_int(s, 9),
		.exit_code = number_of(s, 10),
		.signal = number_of(s, 11),
		.wall_ns = number_of(s, 12),
		.cpu_ns = number_of(s, 13),
		.rss_peak_bytes = number_of(s, 14),
		.processes = number_of(s, 15),
		.lines_lost = number_of(s, 16),
	};
}

static int read_tags(sqlite3_stmt *tags, struct stored_run *r)
{
	size_t length;
	FILE *f = open_memstream(&r->tags, &length);

	if (!f)
		return -ENOMEM;
	sqlite3_bind_int64(tags, 1, r->id);
	while (sqlite3_step(tags) == SQLITE_ROW) {
		const char *value = (const char *)sqlite3_column_text(tags, 1);

		fprintf(f, "%s=%s", (const char *)sqlite3_column_text(tags, 0), value ? value : "");
		fputc('\0', f);
	}
	sqlite3_reset(tags);
	fputc('\0', f);
	return fclose(f) ? -ENOMEM : 0;
}

/* Whether each of the wanted tags is there: its key, or the whole of it. */
static bool has_tags(const struct stored_run *r, const struct run_filter *f)
{
	for (size_t i = 0; i < f->nr_tags; i++) {
		const char *wanted = f->tags[i];
		size_t n = strlen(wanted);
		bool has = false;

		for (const char *t = r->tags; *t; t += strlen(t) + 1)
			has |= !strncmp(t, wanted, n) &&
			       (!t[n] || (t[n] == '=' && !strchr(wanted, '=')));
		if (!has)
			return false;
	}
	return true;
}

int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all)
{
	sqlite3_stmt *runs = NULL, *tags = NULL;
	int rc = sqlite3_prepare_v2(d->db, select_runs, -1, &runs, NULL), err = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(d->db,
					"SELECT key, value FROM tag WHERE run=? ORDER BY key", -1,
					&tags, NULL);
	if (rc == SQLITE_OK)
		bind_filter(runs, f);
	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(runs)) == SQLITE_ROW) {
		struct stored_run r = run_of(runs);

		rc = SQLITE_OK;
		r.source = source;
		err = r.uuid ? read_tags(tags, &r) : -ENOMEM;
		if (err || !stored_run_is(&r, f->state) || !has_tags(&r, f) ||
		    (err = stored_runs_append(all, &r)))
			stored_run_done(&r);
	}
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(runs);
	sqlite3_finalize(tags);
	return err;
}

int query_text(struct database *d, int64_t id, struct run_text *t)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db,
				    "SELECT t.meta, t.summary, r.lines_lost FROM run_text AS t"
				    " JOIN run AS r ON r.id = t.run WHERE t.run=?",
				    -1, &s, NULL);

	*t = (struct run_text){ 0 };
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(s, 1, id);
		rc = sqlite3_step(s);
	}
	if (rc == SQLITE_ROW) {
		t->meta = text_of(s, 0);
		t->summary = text_of(s, 1);
		t->lines_lost = sqlite3_column_int64(s, 2);
		if (!t->meta)
			rc = SQLITE_NOMEM;
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? -ENOENT : database_error(d, rc);
}

void run_text_done(struct run_text *t)
{
	free(t->meta);
	free(t->summary);
	*t = (struct run_text){ 0 };
}

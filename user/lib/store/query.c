// SPDX-License-Identifier: BSD-2-Clause
#include "store/query.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/database.h"
#include "store/identity.h"
#include "store/row_table.h"
#include "store/table_column.h"

#include <errno.h>
#include <math.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* filter_bind() binds ?1 to ?12. The search for spans reads only the index of their names. */
static const char where_wanted[] =
	" FROM run WHERE (?1 = 0 OR id = ?1)"
	" AND (?2 IS NULL OR substr(uuid, 1, length(?2)) = ?2)"
	" AND (?3 IS NULL OR name GLOB ?3) AND (?4 IS NULL OR host GLOB ?4)"
	" AND (?5 IS NULL OR job GLOB ?5) AND (?6 IS NULL OR user = ?6)"
	" AND (?7 IS NULL OR instr(command, ?7)) AND start_time_ns >= ?8"
	" AND start_time_ns + ifnull(wall_ns, 0) >= ?12"
	" AND (?9 IS NULL OR name = ?9) AND (?11 IS NULL OR uid = ?11)"
	" AND (?10 IS NULL OR EXISTS"
	" (SELECT 1 FROM span WHERE span.run = run.id AND span.name GLOB ?10))"
	" ORDER BY id DESC";

static int filter_bind_text(sqlite3_stmt *s, int at, const char *text)
{
	return sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/*
 * Binds a pattern in which only * and ? are special. GLOB would also read brackets as a set of
 * characters, and "job[1]" would not match itself.
 */
static int filter_bind_pattern(sqlite3_stmt *s, int at, const char *text)
{
	char *pattern, *to;

	if (!text)
		return SQLITE_OK; /* an unbound parameter is NULL */
	pattern = memory_malloc(3 * strlen(text) + 1);
	if (!pattern)
		return SQLITE_NOMEM;
	for (to = pattern; *text; text++) {
		if (*text == '[')
			*to++ = '[';
		*to++ = *text;
		if (*text == '[')
			*to++ = ']';
	}
	*to = '\0';
	return sqlite3_bind_text(s, at, pattern, -1, free);
}

/* Returns the first error: a parameter that could not be bound would be NULL and match all runs. */
static int filter_bind(sqlite3_stmt *s, const struct run_filter *f)
{
	const int results[] = {
		sqlite3_bind_int64(s, 1, f->id),
		filter_bind_text(s, 2, f->uuid),
		filter_bind_pattern(s, 3, f->name),
		filter_bind_pattern(s, 4, f->host),
		filter_bind_pattern(s, 5, f->job),
		filter_bind_text(s, 6, f->user),
		filter_bind_text(s, 7, f->command),
		sqlite3_bind_int64(s, 8, (int64_t)f->since_ns),
		filter_bind_text(s, 9, f->exact_name),
		filter_bind_pattern(s, 10, f->span),
		f->is_of_uid ? sqlite3_bind_int64(s, 11, f->uid) : sqlite3_bind_null(s, 11),
		sqlite3_bind_int64(s, 12, (int64_t)f->ended_since_ns),
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i] != SQLITE_OK)
			return results[i];
	return SQLITE_OK;
}

static char *text_duplicate(struct row *r, const char *text)
{
	char *copy = text ? memory_strdup(text) : NULL;

	if (text && !copy && !r->err)
		r->err = database_error(r->d, SQLITE_NOMEM);
	return copy;
}

/* Reads a row of `run`. The caller frees @run with stored_run_done(), also after an error. */
static int stored_run_read(struct row *r, struct stored_run *run)
{
	struct run_row row = { 0 };
	int summary_at = row_read(r, &run_table, &row);

	*run = row.run;
	if (!r->err && row.needed_witness && row.needed_bound)
		needed_set_source(&run->needed, row.needed_witness, row.needed_bound);
	else
		run->needed = (struct memory_needed){ 0 };
	if (row.has_ended)
		run->state = RUN_FINISHED;
	else if (identity_is_alive(row.writer, row.seen_ns, row.interval_ns))
		run->state = RUN_RUNNING;
	else
		run->state = RUN_UNFINISHED;
	if (!r->err && sqlite3_column_type(r->s, summary_at) == SQLITE_TEXT)
		run->cause = run_cause_read(row_text(r, summary_at));
	return r->err;
}

static int tag_write(struct row *r, FILE *f)
{
	const char *key = row_needed_text(r, 0), *value;

	if (r->err)
		return r->err;
	fputs(key, f);
	value = row_text(r, 1);
	fprintf(f, "=%s", value ? value : "");
	fputc('\0', f);
	return r->err;
}

static int stored_run_read_tags(struct database *d, sqlite3_stmt *tags, struct stored_run *run)
{
	struct row r = { .d = d, .s = tags, .table = "tag" };
	int rc = sqlite3_bind_int64(tags, 1, run->id), err = 0;
	bool is_short;
	size_t length;
	FILE *f = memory_open_memstream(&run->tags, &length);

	if (!f)
		return database_error(d, SQLITE_NOMEM);
	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(tags)) == SQLITE_ROW) {
		rc = SQLITE_OK;
		err = tag_write(&r, f);
	}
	if (!err)
		err = database_error(d, rc);
	sqlite3_reset(tags);
	fputc('\0', f);
	is_short = ferror(f);
	if ((fclose(f) || is_short) && !err)
		err = database_error(d, SQLITE_NOMEM);
	return err;
}

/* Returns whether the run has all tags of the filter: the key, or key and value. */
static bool stored_run_has_tags(const struct stored_run *r, const struct run_filter *f)
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

static int runs_prepare(struct database *d, sqlite3_stmt **runs)
{
	sqlite3_str *text = sqlite3_str_new(d->db);
	char *sql;
	int rc;

	sqlite3_str_appendall(text, "SELECT ");
	table_put_names(text, &run_table);
	sqlite3_str_appendall(text,
			      ", CASE WHEN ended AND (exit_code > 0 OR signal > 0) THEN"
			      " (SELECT summary FROM run_text WHERE run_text.run = run.id) END");
	sqlite3_str_appendall(text, where_wanted);
	sql = sqlite3_str_finish(text);
	rc = sql ? sqlite3_prepare_v2(d->db, sql, -1, runs, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc;
}

static int list_prepare(struct database *d, const struct run_filter *f, sqlite3_stmt **runs,
			sqlite3_stmt **tags)
{
	int rc = runs_prepare(d, runs);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(d->db,
					"SELECT key, value FROM tag WHERE run=? ORDER BY key", -1,
					tags, NULL);
	if (rc == SQLITE_OK)
		rc = filter_bind(*runs, f);
	return database_error(d, rc);
}

static int stored_run_read_stall(struct database *d, struct stored_run *run)
{
	struct stall_state stall = { 0 };
	int64_t last = INT64_MIN;
	int err = query_stall(d, run->id, &last, &stall);

	if (err || !stall.is_stalled)
		return err;
	run->stall = memory_malloc(sizeof(stall));
	if (!run->stall)
		return database_error(d, SQLITE_NOMEM);
	*run->stall = stall;
	return 0;
}

static int stored_run_append(struct row *row, sqlite3_stmt *tags, const struct run_filter *f,
			     size_t source, struct stored_runs *all)
{
	struct stored_run r;
	int err = stored_run_read(row, &r);
	bool is_kept = false;

	r.source = source;
	if (!err)
		err = stored_run_read_tags(row->d, tags, &r);
	if (!err && r.state == RUN_RUNNING)
		err = stored_run_read_stall(row->d, &r);
	if (!err && stored_run_is(&r, f->state) && stored_run_has_tags(&r, f)) {
		err = stored_runs_append(all, &r);
		is_kept = !err;
	}
	if (!is_kept)
		stored_run_done(&r);
	return err;
}

int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all)
{
	sqlite3_stmt *runs = NULL, *tags = NULL;
	int err = list_prepare(d, f, &runs, &tags), rc = SQLITE_DONE;
	struct row row = { .d = d, .s = runs, .table = "run" };
	int64_t last = INT64_MAX;

	while (!err && (rc = sqlite3_step(runs)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(runs, 0);

		if (id >= last && last != INT64_MAX) /* a cycle of pages would never end */
			err = database_error(d, SQLITE_CORRUPT);
		else
			err = stored_run_append(&row, tags, f, source, all);
		last = id;
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
	struct row r = { .d = d, .s = s, .table = "run_text" };

	*t = (struct run_text){ 0 };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		t->meta = text_duplicate(&r, row_needed_text(&r, 0));
		t->summary = text_duplicate(&r, row_text(&r, 1));
		t->lines_lost = (int64_t)row_count(&r, 2);
	}
	sqlite3_finalize(s);
	if (r.err)
		run_text_done(t);
	return r.err ? r.err : rc == SQLITE_DONE ? -ENOENT : database_error(d, rc);
}

void run_text_done(struct run_text *t)
{
	free(t->meta);
	free(t->summary);
	*t = (struct run_text){ 0 };
}

static int query_line(struct row *r, int64_t id, size_t at, run_line_fn take, void *context)
{
	int rc = sqlite3_bind_int64(r->s, 1, id);
	const char *line;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(r->s);
	if (rc == SQLITE_ROW) {
		line = row_text(r, 0);
		if (line)
			take(context, at, line);
	}
	sqlite3_reset(r->s);
	return r->err ? r->err : database_error(r->d, rc);
}

int query_lines(struct database *d, size_t source, const struct stored_runs *all,
		enum run_line which, run_line_fn take, void *context)
{
	static const char *const select[] = {
		[TEXT_META] = "SELECT meta FROM run_text WHERE run=?",
		[TEXT_SUMMARY] = "SELECT summary FROM run_text WHERE run=?",
	};
	sqlite3_stmt *s = NULL;
	int err = database_error(d, sqlite3_prepare_v2(d->db, select[which], -1, &s, NULL));
	struct row r = { .d = d, .s = s, .table = "run_text" };

	for (size_t i = 0; i < all->nr && !err; i++)
		if (all->runs[i].source == source)
			err = query_line(&r, all->runs[i].id, i, take, context);
	sqlite3_finalize(s);
	return err;
}

/*
 * How many of the last events are searched for one of a stall. A stalled run executes nothing, so
 * its event is among the last, unless other programs have sent it that many lines since.
 */
#define LOOKED_AT "10000"

/* Applies the current event to @stall. Returns false if it is not about a stall. */
static bool stall_take_row(struct row *r, struct stall_state *stall)
{
	const char *name = row_text(r, 1), *text;
	json_t *event;
	bool is_one;

	if (!name || (strcmp(name, "stalled") != 0 && strcmp(name, "resumed") != 0))
		return false;
	text = row_needed_text(r, 2);
	event = text ? jansson_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
	is_one = event && stall_state_update(stall, event);
	json_decref(event);
	return is_one;
}

int query_stall(struct database *d, int64_t id, int64_t *last, struct stall_state *stall)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db,
				    "SELECT seq, event, line FROM event WHERE run=?1 AND seq>?2"
				    " ORDER BY seq DESC LIMIT " LOOKED_AT,
				    -1, &s, NULL);
	struct row r = { .d = d, .s = s, .table = "event" };
	int64_t newest = *last;
	bool is_found = false;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 2, *last);
	while ((rc == SQLITE_OK || rc == SQLITE_ROW) && !is_found && !r.err) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		if (sqlite3_column_int64(s, 0) > newest)
			newest = sqlite3_column_int64(s, 0);
		is_found = stall_take_row(&r, stall);
	}
	sqlite3_finalize(s);
	if (r.err || (rc != SQLITE_ROW && rc != SQLITE_DONE))
		return r.err ? r.err : database_error(d, rc);
	*last = newest;
	return 0;
}

void stored_run_done(struct stored_run *r)
{
	free(r->uuid);
	free(r->name);
	free(r->job);
	free(r->command);
	free(r->user);
	free(r->host);
	free(r->note);
	free(r->tags);
	free(r->stall);
}

int stored_runs_append(struct stored_runs *all, const struct stored_run *r)
{
	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 64;
		struct stored_run *runs = memory_realloc(all->runs, room * sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		all->runs = runs;
		all->room = room;
	}
	all->runs[all->nr++] = *r;
	return 0;
}

/* Drops the runs with @is_out set, in place. */
static void stored_runs_drop(struct stored_runs *all, const bool *is_out)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (is_out[i])
			stored_run_done(&all->runs[i]);
		else
			all->runs[kept++] = all->runs[i];
	}
	all->nr = kept;
}

/* Returns the rank of a copy of a run; the most complete has the lowest. */
static int stored_run_rank(const struct stored_run *r)
{
	return r->state == RUN_FINISHED ? 0 : r->state == RUN_RUNNING ? 1 : 2;
}

/* Orders copies of a run next to each other, the one to keep first. */
static int stored_run_order_copies(const void *x, const void *y)
{
	const struct stored_run *a = *(struct stored_run *const *)x;
	const struct stored_run *b = *(struct stored_run *const *)y;
	int c = strcmp(a->uuid, b->uuid);

	if (!c)
		c = stored_run_rank(a) - stored_run_rank(b);
	if (!c)
		c = (a->edited_ns < b->edited_ns) - (a->edited_ns > b->edited_ns);
	return c ? c : (a->source > b->source) - (a->source < b->source);
}

int stored_runs_unique(struct stored_runs *all)
{
	struct stored_run **sorted = memory_calloc(all->nr + 1, sizeof(*sorted));
	bool *is_copy = memory_calloc(all->nr + 1, sizeof(*is_copy));
	int err = sorted && is_copy ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < all->nr; i++)
		sorted[i] = &all->runs[i];
	if (!err && all->nr) {
		qsort(sorted, all->nr, sizeof(struct stored_run *), stored_run_order_copies);
		for (size_t i = 1; i < all->nr; i++)
			is_copy[sorted[i] - all->runs] =
				!strcmp(sorted[i]->uuid, sorted[i - 1]->uuid);
		stored_runs_drop(all, is_copy);
	}
	free(is_copy);
	free(sorted);
	return err;
}

int stored_runs_select(struct stored_runs *all, enum state_filter state)
{
	bool *is_out = memory_calloc(all->nr + 1, sizeof(*is_out));

	if (!is_out)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		is_out[i] = !stored_run_is(&all->runs[i], state);
	stored_runs_drop(all, is_out);
	free(is_out);
	return 0;
}

static bool stored_run_has_word(const struct stored_run *r, const char *word)
{
	return (r->name && text_contains(r->name, word)) ||
	       (r->command && text_contains(r->command, word)) ||
	       (r->note && text_contains(r->note, word));
}

int stored_runs_search(struct stored_runs *all, const struct run_filter *f)
{
	bool *is_out = f->nr_words ? memory_calloc(all->nr + 1, sizeof(*is_out)) : NULL;

	if (!is_out)
		return f->nr_words ? -ENOMEM : 0;
	for (size_t i = 0; i < all->nr; i++)
		for (size_t w = 0; w < f->nr_words; w++)
			is_out[i] |= !stored_run_has_word(&all->runs[i], f->words[w]);
	stored_runs_drop(all, is_out);
	free(is_out);
	return 0;
}

static int newest_first(const struct stored_run *a, const struct stored_run *b)
{
	return (a->start_epoch_ns < b->start_epoch_ns) - (a->start_epoch_ns > b->start_epoch_ns);
}

static int largest_first(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

int64_t run_needed_bytes(const struct stored_run *r)
{
	return *r->needed.witness && r->needed.bytes <= INT64_MAX ? (int64_t)r->needed.bytes : -1;
}

/* Returns the memory that lists show, in bytes. */
static int64_t run_memory(const struct stored_run *r)
{
	return *r->needed.witness ? run_needed_bytes(r) : r->rss_peak_bytes;
}

static int stored_run_order(const void *x, const void *y, void *context)
{
	const struct stored_run *a = x, *b = y;
	int c = 0;

	switch (*(enum run_order *)context) {
	case BY_MEMORY:
		c = largest_first(run_memory(a), run_memory(b));
		break;
	case BY_VALUE: /* unknown values come last */
		c = (isnan(a->sort_value) != 0) - (isnan(b->sort_value) != 0);
		if (!c)
			c = (a->sort_value < b->sort_value) - (a->sort_value > b->sort_value);
		break;
	case BY_NAME: /* runs without a name come last */
		c = !a->name - !b->name;
		if (!c && a->name)
			c = strcmp(a->name, b->name);
		break;
	default:
		break;
	}
	return c ? c : newest_first(a, b);
}

void stored_runs_sort(struct stored_runs *all, enum run_order order)
{
	if (all->nr)
		qsort_r(all->runs, all->nr, sizeof(*all->runs), stored_run_order, &order);
}

void stored_runs_done(struct stored_runs *all)
{
	for (size_t i = 0; i < all->nr; i++)
		stored_run_done(&all->runs[i]);
	free(all->runs);
	*all = (struct stored_runs){ 0 };
}

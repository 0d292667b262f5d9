// SPDX-License-Identifier: BSD-2-Clause
#include "store/merge.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/progress.h"
#include "run/reader.h"
#include "store/edit.h"
#include "store/query.h"
#include "store/remove.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Limits of one transaction, during which other writers wait. */
#define LINES_AT_ONCE 5000
#define BYTES_AT_ONCE (8UL << 20)

/* Returns the text after @word and blanks; NULL if @text does not begin with @word. */
static const char *text_skip_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (!text || strncmp(text, word, n) != 0)
		return NULL;
	return text + n + strspn(text + n, " \t");
}

/* Compares the kind without parsing the line: it is the first key. */
static bool line_has_kind(const char *text, const char *kind)
{
	const char *rest =
		text_skip_word(text_skip_word(text_skip_word(text, "{"), "\"kind\""), ":");

	return text_skip_word(text_skip_word(text_skip_word(rest, "\""), kind), "\"") != NULL;
}

static __attribute__((noinline)) int64_t import_elapsed_ns(const char *text)
{
	struct line line = { 0 };
	int64_t ns = 0;

	if (!line_read(&line, text, strlen(text)) && line.kind == LINE_SAMPLE)
		ns = (int64_t)line.sample.elapsed_ns;
	line_done(&line);
	return ns;
}

/* Reads ahead to the end of the current run of @f, and seeks back. */
static int import_look_ahead(FILE *f, struct merge_other *o)
{
	__cleanup(freep) char *text = NULL, *sample = NULL;
	size_t room = 0, sample_room = 0;
	off_t here = ftello(f);

	while (memory_getline(&text, &room, f) > 0 && !line_has_kind(text, "meta")) {
		o->has_ended |= line_has_kind(text, "summary");
		if (line_has_kind(text, "sample") && strchr(text, '\n')) {
			char *t = sample;
			size_t r = sample_room;

			sample = text;
			sample_room = room;
			text = t;
			room = r;
		}
	}
	o->wall_ns = sample ? import_elapsed_ns(sample) : 0;
	return fseeko(f, here, SEEK_SET) ? -errno : 0;
}

static int import_commit_portion(struct store_writer *w)
{
	int err = store_writer_commit(w, 0);

	return err ? err : store_writer_begin(w);
}

/*
 * Replaces the row of the run before it removes the old lines, which takes transactions of its own:
 * meanwhile those belong to a run that is marked as unfinished. Name, note and tags of a later edit
 * here stay.
 */
static int import_renew_run(struct store_writer *w, const struct merge_decision *what,
			    const char *meta)
{
	struct run_text own = { 0 };
	int64_t id = what->id;
	int err = what->keeps_words ? query_text(&w->d, id, &own) : 0;

	if (!err)
		err = remove_head(&w->d, id);
	w->renews = id;
	if (!err)
		err = store_writer_put(w, meta, strlen(meta));
	if (!err && what->keeps_words)
		err = store_copy_words(&w->d, id, own.meta);
	run_text_done(&own);
	if (!err)
		err = store_writer_commit(w, 0);
	if (!err)
		err = remove_rows(&w->d, id);
	return err ? err : store_writer_begin(w);
}

static int import_run(struct import *i, const struct merge_other *o, const char *meta,
		      bool *is_imported)
{
	struct merge_decision what;
	int err = merge_decide(&i->w->d, o, &what);

	if (err)
		return err;
	*is_imported = what.what == MERGE_ADD || what.what == MERGE_RENEW;
	if (what.what == MERGE_ADD)
		err = store_writer_put(i->w, meta, strlen(meta));
	else if (what.what == MERGE_RENEW)
		err = import_renew_run(i->w, &what, meta);
	else if (what.what == MERGE_WORDS)
		err = store_copy_words(&i->w->d, what.id, meta);
	if (err)
		*is_imported = false;
	else
		merge_count(i->merged, what.what);
	return err;
}

/* Returns 0 for times that the store cannot hold. */
static int64_t import_edited_ns(const json_t *meta)
{
	uint64_t ns = member_read_epoch(meta, "edited_time");

	return ns <= INT64_MAX ? (int64_t)ns : 0;
}

/* Handles a meta line: if its run is to be imported, writes its row and sets *@is_imported. */
static int import_begin_run(struct import *i, FILE *f, const char *meta, bool *is_imported)
{
	struct line line = { 0 };
	struct merge_other o = { 0 };
	int err = import_look_ahead(f, &o);

	*is_imported = false;
	if (err)
		return err;
	err = line_read(&line, meta, strlen(meta));
	if (!err)
		err = line_check_meta(&line);
	o.uuid = json_string_value(json_object_get(line.tree, "run"));
	o.edited_ns = import_edited_ns(line.tree);
	if (err != -ENOMEM && err != -EPROTONOSUPPORT && (err || !o.uuid)) {
		i->unreadable++;
		err = 0;
	} else if (!err) {
		err = import_run(i, &o, meta, is_imported);
	}
	line_done(&line);
	return err;
}

static int import_line(struct import *i, FILE *f, const char *text, size_t length,
		       bool *is_imported)
{
	if (text[length - 1] != '\n') { /* cut off */
		i->unreadable++;
		return 0;
	}
	if (line_has_kind(text, "meta")) {
		int err = store_writer_next(i->w);

		return err ? err : import_begin_run(i, f, text, is_imported);
	}
	return *is_imported ? store_writer_put(i->w, text, length) : 0;
}

int import_lines(struct import *i, FILE *f)
{
	__cleanup(freep) char *text = NULL;
	size_t room = 0, lines = 0, bytes = 0;
	bool is_imported = false;
	ssize_t n;
	int err = store_writer_begin(i->w);

	i->w->is_import = true;
	while (!err && (n = memory_getline(&text, &room, f)) > 0) {
		if (!lines++ && !line_has_kind(text, "meta"))
			err = -EBADMSG;
		if (!err)
			err = import_line(i, f, text, (size_t)n, &is_imported);
		bytes += (size_t)n;
		progress_add(1);
		if (!err && (lines % LINES_AT_ONCE == 0 || bytes > BYTES_AT_ONCE)) {
			err = import_commit_portion(i->w);
			bytes = 0;
		}
	}
	if (!err && ferror(f))
		err = -errno;
	if (!err && !lines)
		err = -EBADMSG;
	if (!err)
		err = store_writer_next(i->w);
	if (!err)
		err = store_writer_commit(i->w, 0);
	if (err)
		store_writer_undo(i->w);
	i->unreadable += i->w->unreadable;
	i->w->unreadable = 0;
	return err;
}

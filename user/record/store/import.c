// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/import.h"

#include "base/progress.h"
#include "base/cleanup.h"
#include "store/remove.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of one transaction, which other writers have to wait for. */
#define LINES_AT_ONCE 5000
#define BYTES_AT_ONCE (8UL << 20)

/* The text behind @word and blanks; NULL: @text does not begin with @word. */
static const char *text_skip_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (!text || strncmp(text, word, n) != 0)
		return NULL;
	return text + n + strspn(text + n, " \t");
}

/* The kind is the first key, so that no line is parsed to know it. */
static bool line_has_kind(const char *text, const char *kind)
{
	const char *rest =
		text_skip_word(text_skip_word(text_skip_word(text, "{"), "\"kind\""), ":");

	return text_skip_word(text_skip_word(text_skip_word(rest, "\""), kind), "\"") != NULL;
}

static int64_t import_elapsed_ns(const char *text)
{
	struct line line = { 0 };
	int64_t ns = 0;

	if (!line_read(&line, text, strlen(text)) && line.kind == LINE_SAMPLE)
		ns = (int64_t)line.sample.elapsed_ns;
	line_done(&line);
	return ns;
}

/* Reads ahead to the end of the current run of @f, and seeks back. */
static int import_look_ahead(FILE *f, bool *has_ended, int64_t *wall_ns)
{
	__cleanup(freep) char *text = NULL, *sample = NULL;
	size_t room = 0, sample_room = 0;
	off_t here = ftello(f);

	*has_ended = false;
	while (getline(&text, &room, f) > 0 && !line_has_kind(text, "meta")) {
		*has_ended |= line_has_kind(text, "summary");
		if (line_has_kind(text, "sample") && strchr(text, '\n')) {
			char *t = sample;
			size_t r = sample_room;

			sample = text;
			sample_room = room;
			text = t;
			room = r;
		}
	}
	*wall_ns = sample ? import_elapsed_ns(sample) : 0;
	return fseeko(f, here, SEEK_SET) ? -errno : 0;
}

static int import_commit_portion(struct store_writer *w)
{
	int err = store_writer_commit(w, 0);

	return err ? err : store_writer_begin(w);
}

/*
 * The new row of the run replaces the old one before the old lines are removed, which takes
 * transactions of its own: until then they belong to a run that is marked as unfinished.
 */
static int import_renew_run(struct store_writer *w, int64_t id, const char *meta)
{
	int err = remove_head(&w->d, id);

	w->renews = id;
	if (!err)
		err = store_writer_put(w, meta, strlen(meta));
	if (!err)
		err = store_writer_commit(w, 0);
	if (!err)
		err = remove_rows(&w->d, id);
	return err ? err : store_writer_begin(w);
}

/* Sets *@takes if the run that this line begins is imported; then its row is written. */
static int import_begin_run(struct import *i, FILE *f, const char *meta, bool *takes)
{
	enum merge_case what = MERGE_ADD;
	struct line line = { 0 };
	int64_t id = 0, wall_ns;
	bool has_ended;
	const char *uuid;
	int err = import_look_ahead(f, &has_ended, &wall_ns);

	*takes = false;
	if (err)
		return err;
	err = line_read(&line, meta, strlen(meta));
	if (!err)
		err = line_check_meta(&line);
	uuid = json_string_value(json_object_get(line.tree, "run"));
	if (err == -ENOMEM) {
		line_done(&line);
		return err;
	}
	if (err != -EPROTONOSUPPORT && (err || !uuid)) {
		i->unreadable++;
		err = 0;
	} else if (!err) {
		err = merge_decide(&i->w->d, uuid, has_ended, wall_ns, &what, &id);
		if (!err && what == MERGE_ADD)
			err = store_writer_put(i->w, meta, strlen(meta));
		else if (!err && what == MERGE_RENEW)
			err = import_renew_run(i->w, id, meta);
		*takes = !err && (what == MERGE_ADD || what == MERGE_RENEW);
		if (!err)
			merge_count(i->merged, what);
	}
	line_done(&line);
	return err;
}

static int import_line(struct import *i, FILE *f, const char *text, size_t length, bool *takes)
{
	if (text[length - 1] != '\n') { /* cut off */
		i->unreadable++;
		return 0;
	}
	if (line_has_kind(text, "meta")) {
		int err = store_writer_next(i->w);

		return err ? err : import_begin_run(i, f, text, takes);
	}
	return *takes ? store_writer_put(i->w, text, length) : 0;
}

int import_lines(struct import *i, FILE *f)
{
	__cleanup(freep) char *text = NULL;
	size_t room = 0, lines = 0, bytes = 0;
	bool takes = false;
	ssize_t n;
	int err = store_writer_begin(i->w);

	i->w->is_import = true;
	while (!err && (n = getline(&text, &room, f)) > 0) {
		if (!lines++ && !line_has_kind(text, "meta"))
			err = -EBADMSG;
		if (!err)
			err = import_line(i, f, text, (size_t)n, &takes);
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

// SPDX-License-Identifier: BSD-2-Clause
/* A run in a file of JSON Lines. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "store/keep.h"
#include "store/source.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* The first line shows which program wrote the file. */
static int lines_read_one(struct source *s, bool is_first, const char *text, size_t length)
{
	int err;

	if (!is_first && text[length - 1] != '\n') { /* it was not written to its end */
		s->is_cut = true;
		s->line.kind = LINE_OTHER;
		return -EAGAIN;
	}
	err = line_read(&s->line, text, length);
	if (err == -ENOMEM)
		return err;
	if (err) {
		s->unreadable++;
		return is_first ? -EBADMSG : -EAGAIN;
	}
	if (is_first)
		return line_check_meta(&s->line);
	return s->line.kind == LINE_META ? -EMLINK : 0;
}

static bool line_is_needed(const struct source *s, unsigned parts)
{
	const struct line *l = &s->line;

	if (!(parts & PART(l->kind)))
		return false;
	return l->kind != LINE_PROCESS_SAMPLE || !s->to_ns ||
	       (l->process_sample.elapsed_ns >= s->from_ns &&
		l->process_sample.elapsed_ns <= s->to_ns);
}

static int lines_each(struct source *s, unsigned parts, source_fn fn, void *context)
{
	FILE *f = s->from;
	__cleanup(freep) char *text = NULL;
	size_t room = 0, failures = memory_failures();
	bool is_first = true;
	ssize_t n;
	int err = 0;

	rewind(f);
	s->is_cut = false;
	s->unreadable = 0;
	while (!err && (n = getline(&text, &room, f)) > 0) {
		if (!is_first && !line_may_be(text, (size_t)n, parts))
			continue;
		err = lines_read_one(s, is_first, text, (size_t)n);
		is_first = false;
		if (!err && line_is_needed(s, parts))
			err = fn(context, &s->line);
		else if (err == -EAGAIN)
			err = 0;
	}
	if (!err && ferror(f))
		err = -errno;
	if (!err && memory_failures() > failures) /* which getline() takes for the end */
		err = -ENOMEM;
	return err ? err : is_first ? -EBADMSG : 0;
}

static void lines_close(struct source *s)
{
	fclose(s->from);
}

static const struct source_ops lines = { .each = lines_each, .close = lines_close };

int source_open_file(struct source *s, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *f = is_stdin ? fdopen(dup(STDIN_FILENO), "re") : fopen(path, "re");
	int err = f ? 0 : -errno;

	*s = (struct source){ 0 };
	if (f && fseek(f, 0, SEEK_SET)) {
		s->is_of_pipe = true;
		err = source_keep(&f, SOURCE_KEPT_BYTES);
		if (!err && is_stdin && dup2(fileno(f), STDIN_FILENO) < 0)
			err = -errno;
	}
	if (!err) {
		s->from = f;
		s->ops = &lines;
	} else if (f) {
		fclose(f);
	}
	return err;
}

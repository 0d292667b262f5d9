// SPDX-License-Identifier: BSD-2-Clause
#include "store/source.h"

#include "base/cleanup.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/progress.h"
#include "run/writer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

void source_close(struct source *s)
{
	if (s->ops)
		s->ops->close(s);
	line_done(&s->line);
	*s = (struct source){ 0 };
}

struct counted {
	source_fn fn;
	void *context;
};

static int part_count(void *context, struct line *l)
{
	const struct counted *c = context;

	progress_add(1);
	return c->fn(c->context, l);
}

int source_each(struct source *s, unsigned parts, source_fn fn, void *context)
{
	struct counted c = { fn, context };

	return s->ops->each(s, parts, part_count, &c);
}

const char *source_error(int err)
{
	switch (err) {
	case -EBADMSG:
		return "it is not a bpfmon run: the first line must be of kind meta, as written by "
		       "bpfmon -o run.jsonl";
	case -EPROTONOSUPPORT:
		return "its schema is not bpfmon/1; use a newer bpfmon";
	case -EMLINK:
		return "it contains several runs; add them to a store: bpfmon store merge FILE";
	case -EFBIG:
		return "more than 1 GiB arrived through the pipe, which is the limit; write it to "
		       "a file and name that";
	case -EUCLEAN:
		return "the store is damaged";
	case -EAGAIN:
		return "the store is locked by other writers";
	default:
		return strerror(-err);
	}
}

const char *source_why(const struct source *s, int err)
{
	bool is_of_store = err == -EUCLEAN || err == -EFBIG || err == -EIO;

	return is_of_store && s->why[0] ? s->why : source_error(err);
}

struct fold {
	struct summary total;
	bool has_summary;
};

static int summary_take(void *context, struct line *l)
{
	struct fold *f = context;

	if (l->kind == LINE_META)
		f->total.is_attached = json_object_get(l->tree, "attached") != NULL;
	if (l->kind != LINE_SUMMARY)
		return 0;
	summary_done(&f->total);
	f->total = l->summary; /* moved: the next line would free it */
	l->summary = (struct summary){ 0 };
	f->has_summary = true;
	return 0;
}

static int fold_add_part(void *context, struct line *l)
{
	struct fold *f = context;

	if (l->kind == LINE_SAMPLE)
		summary_add_sample(&f->total, &l->sample);
	else if (l->kind == LINE_PROCESS)
		return summary_add_process(&f->total, &l->process);
	return 0;
}

int source_summary(struct source *s, struct summary *total, bool *is_folded)
{
	struct fold f = { 0 };
	int err = source_each(s, PART(LINE_META) | PART(LINE_SUMMARY), summary_take, &f);

	if (!err && !f.has_summary) {
		err = source_each(s, PART(LINE_SAMPLE) | PART(LINE_PROCESS), fold_add_part, &f);
		snprintf(f.total.reason, sizeof(f.total.reason), "%s",
			 s->without_summary
				 ? s->without_summary
				 : "the run has no summary: it was cut off, or is still going on");
		summary_finish(&f.total);
	}
	*is_folded = !f.has_summary;
	*total = f.total;
	return err;
}

int source_summary_tree(struct source *s, void **tree, bool *is_folded)
{
	struct summary total = { 0 };
	struct jsonw j = { 0 };
	int err = source_summary(s, &total, is_folded);

	*tree = NULL;
	if (!err) {
		write_summary(&j, &total);
		*tree = j.failed ? NULL : jansson_loadb(j.text, j.used, JSON_ALLOW_NUL, NULL);
		err = *tree ? 0 : -ENOMEM;
	}
	jsonw_done(&j);
	summary_done(&total);
	return err;
}

/* Reads a line. The first one identifies a run of bpfmon. */
static int lines_read_one(struct source *s, bool is_first, const char *text, size_t length)
{
	int err;

	if (!is_first && text[length - 1] != '\n') { /* the writer was interrupted */
		s->is_cut = true;
		s->line.kind = LINE_OTHER;
		return -EAGAIN;
	}
	err = line_read_quick(&s->line, text, length);
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
	while (!err && (n = memory_getline(&text, &room, f)) > 0) {
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
	if (!err && memory_failures() > failures) /* getline() treats it as the end */
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
	FILE *f = is_stdin ? memory_fdopen(dup(STDIN_FILENO), "re") : memory_fopen(path, "re");
	int err = f ? 0 : -errno;

	*s = (struct source){ 0 };
	if (f && fseek(f, 0, SEEK_SET)) {
		s->is_of_pipe = true;
		err = source_copy_pipe(&f, SOURCE_KEPT_BYTES);
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

static int stream_copy(FILE *from, FILE *to, uint64_t most_bytes)
{
	char part[8192];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), from))) {
		if (n > most_bytes)
			return -EFBIG;
		most_bytes -= n;
		if (fwrite(part, 1, n, to) != n)
			return -errno;
	}
	return ferror(from) || fflush(to) ? -errno : 0;
}

int source_copy_pipe(FILE **f, uint64_t most_bytes)
{
	FILE *kept = memory_tmpfile();
	int err = kept ? stream_copy(*f, kept, most_bytes) : -errno;

	fclose(*f);
	if (err && kept)
		fclose(kept);
	*f = err ? NULL : kept;
	return err;
}

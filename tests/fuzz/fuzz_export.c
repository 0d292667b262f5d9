// SPDX-License-Identifier: BSD-2-Clause
/*
 * A run as JSON Lines, exported in every format: each is UTF-8 that steers no terminal, JSON can be
 * parsed, points are valid, and the lines exported once more are the same.
 */
#include "fuzz.h"

#include "export/export.h"
#include "run/line_protocol.h"

#include <errno.h>

static int text_take(void *context, const char *text, size_t length)
{
	buffer_put(context, text, length);
	return 0;
}

/* Exports the input as one document. False: it is no run. */
static bool export_one(const uint8_t *data, size_t size, const struct export_format *f,
		       const struct export_document *d, struct buffer *t)
{
	struct export_batch batch = { 0 };
	struct exporter e = { 0 };
	struct source s;
	char path[32];
	int fd = fuzz_file(data, size, path), err;

	FUZZ_HOLDS(!source_open_file(&s, path));
	err = export_batch_add(&batch, f, &s);
	if (!err)
		err = export_open(&e, &s);
	e.batch = &batch;
	if (!err && export_write(&e, d, text_take, t))
		t->used = 0;
	export_close(&e);
	export_batch_done(&batch);
	source_close(&s);
	close(fd);
	FUZZ_HOLDS(!t->failed);
	return !err && t->used;
}

static void check_lines(const struct buffer *t, const struct export_format *f,
			const struct export_document *d)
{
	struct buffer again = { 0 };
	const char *at = t->text, *end = at + t->used, *stop;

	for (; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		FUZZ_HOLDS(stop);
		json_decref(fuzz_json(at, (size_t)(stop - at)));
	}
	FUZZ_HOLDS(export_one((const uint8_t *)t->text, t->used, f, d, &again));
	FUZZ_HOLDS(again.used == t->used && !memcmp(again.text, t->text, t->used));
	buffer_done(&again);
}

/* bpfmon's own parser accepts each point, unless it has too many tags or fields, or too long ones.
 */
static void check_points(const struct buffer *t)
{
	char *text = malloc(t->used), *at = text;
	struct point p;

	FUZZ_HOLDS(text);
	memcpy(text, t->text, t->used);
	while (at < text + t->used) {
		const char *line = t->text + (at - text);
		int got = point_parse(&p, &at, text + t->used);

		if (got == -EBADMSG)
			fprintf(stderr, "%.*s\n", (int)strcspn(line, "\n"), line);
		FUZZ_HOLDS(got == 1 || got == -E2BIG);
	}
	free(text);
}

static void check_document(const struct export_format *f, const struct export_document *d,
			   const struct buffer *t)
{
	const char *suffix = strrchr(d->suffix, '.');

	fuzz_is_inert(t->text, t->used);
	FUZZ_HOLDS(t->text[t->used - 1] == '\n');
	if (f == &jsonl_export)
		check_lines(t, f, d);
	else if (f == &influx_export)
		check_points(t);
	else if (f == &document_export || (suffix && !strcmp(suffix, ".json")))
		json_decref(fuzz_json(t->text, t->used));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		for (size_t k = 0; k < EXPORT_DOCUMENTS && f->documents[k].write; k++) {
			struct buffer t = { 0 };

			if (export_one(data, size, f, &f->documents[k], &t))
				check_document(f, &f->documents[k], &t);
			buffer_done(&t);
		}
	return 0;
}

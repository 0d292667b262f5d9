// SPDX-License-Identifier: BSD-2-Clause
/* One of the JSON Lines: what is read of it stays the same when it is written and read again. */
#include "fuzz.h"

#include "run/reader.h"
#include "run/rewriter.h"
#include "run/writer.h"

/* Writes the line from the model, without its tree. */
static void write_model(struct jsonw *j, struct line *l)
{
	void *tree = l->tree;

	if (l->kind == LINE_SUMMARY) {
		write_summary(j, &l->summary);
	} else if (l->kind == LINE_SAMPLE || l->kind == LINE_PROCESS ||
		   l->kind == LINE_PROCESS_SAMPLE) {
		l->tree = NULL;
		rewrite_line(j, l);
		l->tree = tree;
	}
}

/* Each text that is written is a line that the reader accepts, with the same content. */
static void check_twice(struct line *l, void (*write)(struct jsonw *j, struct line *l))
{
	struct jsonw first = { 0 }, second = { 0 };
	struct line again = { .start_epoch_ns = l->start_epoch_ns };

	write(&first, l);
	if (first.used) {
		FUZZ_HOLDS(!first.failed && first.text[first.used - 1] == '\n');
		json_decref(fuzz_json(first.text, first.used));
		FUZZ_HOLDS(!line_read(&again, first.text, first.used));
		FUZZ_HOLDS(again.kind == l->kind);
		write(&second, &again);
		FUZZ_HOLDS(first.used == second.used);
		FUZZ_HOLDS(!memcmp(first.text, second.text, first.used));
	}
	line_done(&again);
	jsonw_done(&first);
	jsonw_done(&second);
}

static void write_tree(struct jsonw *j, struct line *l)
{
	rewrite_line(j, l);
}

/* A record that is read without a tree is the same as the parser's. */
static void check_quick(struct line *l, const char *text, size_t length)
{
	struct jsonw parsed = { 0 }, plain = { 0 };
	struct line quick = { .start_epoch_ns = l->start_epoch_ns };

	FUZZ_HOLDS(!line_read_quick(&quick, text, length));
	FUZZ_HOLDS(quick.kind == l->kind);
	if (!quick.tree) {
		write_model(&parsed, l);
		write_model(&plain, &quick);
		FUZZ_HOLDS(plain.used == parsed.used);
		FUZZ_HOLDS(!memcmp(plain.text, parsed.text, plain.used));
	}
	line_done(&quick);
	jsonw_done(&parsed);
	jsonw_done(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line line = { 0 };
	const char *at = (const char *)data, *end = at + size, *stop;

	for (; at < end; at = stop) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop + 1 : end;
		if (line_read(&line, at, (size_t)(stop - at)))
			continue;
		line_check_meta(&line);
		check_twice(&line, write_tree);
		check_twice(&line, write_model);
		check_quick(&line, at, (size_t)(stop - at));
	}
	line_done(&line);
	return 0;
}

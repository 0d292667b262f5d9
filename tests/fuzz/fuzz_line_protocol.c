// SPDX-License-Identifier: BSD-2-Clause
/* Pushed line protocol: each point that is accepted becomes one line of JSON that can be read. */
#include "fuzz.h"

#include "run/line_protocol.h"
#include "run/reader.h"
#include "run/writer.h"

static bool is_within(const struct piece *s, const char *text, size_t size)
{
	return s->text >= text && s->text + s->length <= text + size;
}

static void check_point(const struct point *p, const char *text, size_t size)
{
	FUZZ_HOLDS(p->name.length && is_within(&p->name, text, size));
	FUZZ_HOLDS(p->nr_fields && p->nr_fields <= POINT_FIELDS && p->nr_tags <= POINT_TAGS);
	FUZZ_HOLDS(!p->has_time || p->time_ns <= POINT_LAST_NS);
	for (size_t i = 0; i < p->nr_tags; i++)
		FUZZ_HOLDS(p->tags[i].key.length && is_within(&p->tags[i].key, text, size) &&
			   is_within(&p->tags[i].value, text, size));
	for (size_t i = 0; i < p->nr_fields; i++)
		FUZZ_HOLDS(p->fields[i].key.length && is_within(&p->fields[i].key, text, size));
}

static void check_line(const struct point *p)
{
	const struct run run = { .start_epoch_ns = 1763690000000000000 };
	struct jsonw j = { 0 };
	struct line line = { 0 };
	json_t *tree;

	write_point(&j, &run, 1500000000, 42, p);
	FUZZ_HOLDS(!j.failed);
	tree = fuzz_json(j.text, j.used);
	/* two different keys with invalid UTF-8 may become the same */
	FUZZ_HOLDS(json_object_size(json_object_get(tree, "fields")) <= p->nr_fields);
	FUZZ_HOLDS(json_object_size(json_object_get(tree, "tags")) <= p->nr_tags);
	FUZZ_HOLDS(!line_read(&line, j.text, j.used) && line.kind == LINE_METRIC);
	json_decref(tree);
	line_done(&line);
	jsonw_done(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1), *at = text;
	size_t lines = point_count_lines((const char *)data, size), points = 0;
	struct point p;

	FUZZ_HOLDS(text);
	memcpy(text, data, size);
	while (at < text + size) {
		const char *before = at;
		int got = point_parse(&p, &at, text + size);

		FUZZ_HOLDS(at > before && at <= text + size);
		points += got != 0;
		if (got != 1)
			continue;
		check_point(&p, text, size);
		check_line(&p);
	}
	FUZZ_HOLDS(points <= lines); /* a text in quotes may have line ends */
	free(text);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* JSON Lines: the stream as it is, and a summary when it ends without one. */
#include "record/sink.h"

#include "wire/writer.h"

static void jsonl_line(struct sink *s, const struct line *l, const char *text, size_t length)
{
	s->has_summary |= l->kind == LINE_SUMMARY;
	output_put(&s->out, text, length);
}

static void jsonl_end(struct sink *s, const struct summary *total)
{
	struct json j = { 0 };

	if (s->has_summary)
		return;
	write_summary(&j, total);
	if (!j.failed)
		output_put(&s->out, j.text, j.used);
	jw_done(&j);
}

const struct sink_ops jsonl_sink = {
	.name = "jsonl",
	.extension = ".jsonl",
	.line = jsonl_line,
	.end = jsonl_end,
};

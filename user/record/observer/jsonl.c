// SPDX-License-Identifier: BSD-2-Clause
/* JSON Lines: the stream as it is, and a summary when it ends without one. */
#include "record/observer.h"

#include "wire/writer.h"

static void jsonl_line(struct observer *s, const struct line *l, const char *text, size_t length)
{
	s->has_summary |= l->kind == LINE_SUMMARY;
	output_put(&s->out, text, length);
}

static void jsonl_end(struct observer *s, const struct summary *total)
{
	struct json j = { 0 };

	if (s->has_summary)
		return;
	write_summary(&j, total);
	if (!j.failed)
		output_put(&s->out, j.text, j.used);
	jw_done(&j);
}

const struct observer_ops jsonl_observer = {
	.name = "jsonl",
	.extension = ".jsonl",
	.line = jsonl_line,
	.end = jsonl_end,
};

// SPDX-License-Identifier: BSD-2-Clause
/* Text: the summary for people. */
#include "record/sink.h"

#include "view/summary_text.h"

#include <stdlib.h>

static void text_end(struct sink *s, const struct summary *total)
{
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return;
	summary_text(f, total);
	if (!fclose(f))
		output_put(&s->out, text, length);
	free(text);
}

const struct sink_ops text_sink = {
	.name = "text",
	.extension = ".txt",
	.end = text_end,
};

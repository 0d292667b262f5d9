// SPDX-License-Identifier: BSD-2-Clause
/* Text: the summary for people. */
#include "record/observer.h"

#include "view/summary_text.h"
#include "view/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void text_end(struct observer *s, const struct summary *total)
{
	bool is_seen = s->out.fd == STDERR_FILENO;
	char *text = summary_text(total, is_seen ? terminal_limit(stderr) : 0);

	if (text)
		output_put(&s->out, text, strlen(text));
	free(text);
}

const struct observer_ops text_observer = {
	.name = "text",
	.extension = ".txt",
	.end = text_end,
};

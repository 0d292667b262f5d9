// SPDX-License-Identifier: BSD-2-Clause
/* Text: the summary for people, in a file or on the terminal. */
#include "record/observer/file.h"
#include "record/recorder.h"
#include "view/summary_text.h"
#include "view/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int text_put_summary(struct observer *o, const struct summary *total, size_t width)
{
	char *text = summary_text(total, width);

	if (!text)
		return -ENOMEM;
	output_put(file_observer_output(o), text, strlen(text));
	free(text);
	return 0;
}

static int text_end(struct observer *o, struct summary *total)
{
	return text_put_summary(o, total, 0);
}

static const char *terminal_target(const struct recorder_options *options)
{
	return options->quiet ? NULL : "stderr";
}

static int terminal_open(struct observer *o, const struct recorder_options *options)
{
	struct output *out = file_observer_output(o);

	(void)options;
	output_open_fd(out, STDERR_FILENO);
	out->patience = o->patience;
	return 0;
}

static int terminal_end(struct observer *o, struct summary *total)
{
	return text_put_summary(o, total, terminal_limit(stderr));
}

const struct observer_ops text_observer = {
	.name = "text",
	.extension = ".txt",
	.own_bytes = sizeof(struct output),
	.open = file_observer_open,
	.begin = file_observer_begin,
	.flush = file_observer_flush,
	.end = text_end,
	.close = file_observer_close,
};

const struct observer_ops terminal_observer = {
	.name = "terminal",
	.own_bytes = sizeof(struct output),
	.target = terminal_target,
	.open = terminal_open,
	.flush = file_observer_flush,
	.end = terminal_end,
	.close = file_observer_close,
};

// SPDX-License-Identifier: BSD-2-Clause
/* JSON Lines: the stream as it is. */
#include "bpfmon/roles/observe_file.h"

static int jsonl_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	(void)l;
	output_put(file_observer_output(o), text, length);
	return 0;
}

const struct observer_ops jsonl_observer = {
	.name = "jsonl",
	.extension = ".jsonl",
	.own_bytes = sizeof(struct output),
	.open = file_observer_open,
	.begin = file_observer_begin,
	.line = jsonl_line,
	.flush = file_observer_flush,
	.close = file_observer_close,
};

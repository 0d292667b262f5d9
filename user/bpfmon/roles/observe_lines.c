// SPDX-License-Identifier: BSD-2-Clause
/* The lines as they come, for a caller that has opened a file for them: a benchmark, which keeps
 * many runs at once. */
#include "base/bytes.h"
#include "bpfmon/roles/recorder.h"

#include <errno.h>

struct lines_out {
	int fd; /* not owned */
};

static const char *lines_target(const struct recorder_options *options)
{
	return options->lines_fd > 0 ? "the lines of the runs" : NULL;
}

static int lines_open(struct observer *o, const struct recorder_options *options)
{
	((struct lines_out *)o->own)->fd = options->lines_fd;
	return 0;
}

static int lines_put(struct observer *o, const struct line *l, const char *text, size_t length)
{
	(void)l;
	errno = EIO;
	return bytes_pass(((struct lines_out *)o->own)->fd, (void *)text, length, false) ? 0
											 : -errno;
}

const struct observer_ops lines_observer = {
	.name = "lines",
	.own_bytes = sizeof(struct lines_out),
	.target = lines_target,
	.open = lines_open,
	.line = lines_put,
};

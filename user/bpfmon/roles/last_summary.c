// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/roles.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/patience.h"
#include "text/summary_text.h"
#include "text/terminal.h"
#include "run/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUMMARY_BYTES (64UL << 20) /* 4096 programs with long paths and all metrics */
#define STEP_MS 100                /* between attempts to write to a reader that blocks */

void last_summary_init(struct last_summary *l, int fd, bool is_quiet)
{
	*l = (struct last_summary){ .message.limit = SUMMARY_BYTES,
				    .fd = fd,
				    .is_quiet = is_quiet };
}

/* Returns NULL if it is no summary, or out of memory. */
static char *last_summary_format(const struct message *m)
{
	static const struct summary_view view = { .has_styles = true };
	struct line *line = memory_calloc(1, sizeof(*line));
	char *text = NULL;

	if (line && !line_read(line, m->text, m->length) && line->kind == LINE_SUMMARY)
		text = terminal_paint(summary_text(&line->summary, &view, terminal_limit(stderr)),
				      stderr);
	if (line)
		line_done(line);
	free(line);
	return text;
}

static void last_summary_take(struct last_summary *l)
{
	if (!l->is_quiet && !l->text) {
		l->text = last_summary_format(&l->message);
		l->length = l->text ? strlen(l->text) : 0;
		l->until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_WITH_READER_NS;
		if (!l->text)
			log_warn("cannot show the summary: %s", strerror(ENOMEM));
	}
	message_done(&l->message);
}

static void last_summary_receive(struct last_summary *l)
{
	struct control c;
	int got;

	while (l->fd >= 0) {
		got = message_receive(&l->message, l->fd, &c);
		if (got == -EAGAIN)
			return;
		l->nr_received++;
		if (got == 1 && c.type == CONTROL_SUMMARY)
			last_summary_take(l);
		else if (got == 1 && l->limits)
			limit_end_handle_message(l->limits, &c);
		else if (got != 1)
			l->fd = -1;
	}
}

static void last_summary_write(struct last_summary *l)
{
	struct patience none = { .watched_fd = -1, .limit_ns = 0 };
	size_t done;
	int err;

	if (last_summary_is_shown(l))
		return;
	err = patience_write(&none, STDERR_FILENO, l->text + l->done, l->length - l->done, &done);
	l->done += done;
	/* a failure cannot be reported: stderr is what fails */
	if (err && (err != -ETIMEDOUT || clock_ns(CLOCK_MONOTONIC) >= l->until_ns))
		l->done = l->length;
}

void last_summary_wait(const struct last_summary *l, int signal_fd, int other_fd, int wait_ms)
{
	struct pollfd p[] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = l->fd, .events = POLLIN },
		{ .fd = other_fd, .events = POLLIN },
		{ .fd = last_summary_is_shown(l) ? -1 : STDERR_FILENO, .events = POLLOUT },
	};

	if (!last_summary_is_shown(l))
		wait_ms = STEP_MS;
	poll(p, sizeof(p) / sizeof(*p), wait_ms);
}

void last_summary_advance(struct last_summary *l)
{
	last_summary_receive(l);
	last_summary_write(l);
}

bool last_summary_is_shown(const struct last_summary *l)
{
	return l->done == l->length;
}

void last_summary_done(struct last_summary *l)
{
	message_done(&l->message);
	free(l->text);
	last_summary_init(l, -1, l->is_quiet);
}

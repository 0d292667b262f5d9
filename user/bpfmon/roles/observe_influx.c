// SPDX-License-Identifier: BSD-2-Clause
/*
 * The run as line protocol, for a database: bpfmon-push sends what this observer writes into its
 * pipe. What the pipe does not take waits in a bounded buffer, so the run never waits for a server.
 */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/pusher.h"
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define WAITING_BYTES (4 << 20) /* of lines; further ones are dropped and counted */
/* A URL without its query, which may have a password. */
#define SHOWN(url) (int)strcspn(url, "?"), url
#define LAST_WAIT_MS 1000 /* for the pipe, after the end of the run */

struct influx_observer {
	struct pusher pusher;
	struct influx_live *live; /* owned; NULL before the meta line */
	struct buffer waiting;    /* owned */
	uint64_t dropped;         /* lines */
};

static int influx_pass(void *context, const char *text, size_t length)
{
	struct influx_observer *own = context;

	if (own->waiting.used + length <= WAITING_BYTES) {
		buffer_put(&own->waiting, text, length);
		return own->waiting.failed ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < length; i++)
		own->dropped += text[i] == '\n';
	return 0;
}

static int influx_open(struct observer *o, const struct recorder_options *options)
{
	struct influx_observer *own = o->own;

	own->pusher = (struct pusher){ -1, -1 };
	for (size_t i = 0; i < options->nr_outputs; i++)
		if (options->outputs[i].path == o->target)
			own->pusher = options->outputs[i].pusher;
	if (own->pusher.lines_fd < 0)
		return OBSERVER_SKIPPED; /* which has been reported */
	log_info("sending the run to '%.*s'", SHOWN(o->target));
	return 0;
}

static int influx_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	struct influx_observer *own = o->own;

	(void)text, (void)length;
	if (own->live)
		return influx_live_put(own->live, l);
	if (l->kind != LINE_META)
		return 0;
	own->live = influx_live_new(l, influx_pass, own);
	return own->live ? 0 : -ENOMEM;
}

/* Writes what the pipe takes now. The child says itself why it ended. */
static void influx_write_waiting(struct influx_observer *own)
{
	ssize_t n;

	while (own->waiting.used && own->pusher.lines_fd >= 0) {
		n = write(own->pusher.lines_fd, own->waiting.text, own->waiting.used);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR) {
			close(own->pusher.lines_fd);
			own->pusher.lines_fd = -1;
		}
		if (n <= 0)
			continue;
		own->waiting.used -= (size_t)n;
		memmove(own->waiting.text, own->waiting.text + n, own->waiting.used);
	}
	if (own->pusher.lines_fd < 0)
		own->waiting.used = 0;
}

static int influx_flush(struct observer *o)
{
	struct influx_observer *own = o->own;
	int err = own->live ? influx_live_flush(own->live) : 0;

	influx_write_waiting(own);
	return err;
}

static int influx_close(struct observer *o)
{
	struct influx_observer *own = o->own;
	struct pollfd pipe = { .fd = own->pusher.lines_fd, .events = POLLOUT };

	if (!o->has_failed)
		influx_flush(o);
	while (own->waiting.used && poll(&pipe, 1, LAST_WAIT_MS) > 0)
		influx_write_waiting(own);
	for (size_t i = 0; i < own->waiting.used; i++)
		own->dropped += own->waiting.text[i] == '\n';
	if (own->dropped)
		log_warn("%" PRIu64 " lines were not sent to '%.*s', which did not keep up",
			 own->dropped, SHOWN(o->target));
	pusher_end(&own->pusher);
	influx_live_free(own->live);
	buffer_done(&own->waiting);
	return 0;
}

const struct observer_ops influx_observer = {
	.name = "influx",
	.own_bytes = sizeof(struct influx_observer),
	.open = influx_open,
	.line = influx_line,
	.flush = influx_flush,
	.close = influx_close,
};

// SPDX-License-Identifier: BSD-2-Clause
#include "push/by_hand.h"

#include "base/clock.h"
#include "base/line_stream.h"
#include "base/log.h"
#include "board/follower.h"
#include "push/datagrams.h"
#include "push/sender.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES (1 << 20)                     /* longest */
#define HELD_MOST_BYTES (SPOOL_MEMORY_BYTES / 2) /* then the input waits */
#define COLLECT_NS NSEC_PER_SEC                  /* for which lines become one request */
#define DATAGRAMS_PAUSE_NS (5 * NSEC_PER_MSEC)   /* after BATCH_BYTES, for the receiver */

struct by_hand {
	struct target target;
	struct spool spool;
	struct sender sender;
	struct datagrams datagrams;
	struct push_counts counts;
	struct line_stream lines;
	struct buffer text; /* owned; lines that are not in the spool yet */
	size_t nr;          /* of them */
	uint64_t since_ns;  /* the first of them came */
	uint64_t too_long, taken;
	bool is_over; /* the input */
};

static void hand_lines_flush(struct by_hand *h)
{
	if (*h->target.udp_host) {
		datagrams_send(&h->datagrams, &h->text, &h->counts.samples,
			       &h->counts.samples_dropped);
		nanosleep(&(struct timespec){ .tv_nsec = DATAGRAMS_PAUSE_NS }, NULL);
	} else if (h->nr) {
		spool_append_text(&h->spool, SPOOL_SAMPLES, h->text.text, h->text.used, h->nr);
	}
	h->text.used = 0;
	h->nr = 0;
}

static void hand_line_take(void *context, const char *text, size_t length)
{
	struct by_hand *h = context;

	if (!text) {
		h->too_long++;
		return;
	}
	if (length < 2 || *text == '#') /* a comment, or nothing */
		return;
	if (!h->nr++)
		h->since_ns = follower_now();
	h->taken++;
	buffer_put(&h->text, text, length);
	if (h->nr >= BATCH_LINES || h->text.used >= BATCH_BYTES / 2)
		hand_lines_flush(h);
}

static void input_read(struct by_hand *h)
{
	int err = line_stream_read(&h->lines, STDIN_FILENO, hand_line_take, h);

	if (err == -EAGAIN || err == -EINTR || !err)
		return;
	if (err != -ENODATA)
		log_error("cannot read stdin: %s", strerror(-err));
	if (h->lines.used) { /* the last one has no newline */
		hand_line_take(h, h->lines.text, h->lines.used);
		buffer_puts(&h->text, "\n");
	}
	h->is_over = true;
	h->sender.accepted_ns = h->sender.next_ns = follower_now(); /* patience begins here */
}

/* The input waits for a server that accepts lines; else the oldest lines are dropped for it. */
static bool input_may_come(const struct by_hand *h, uint64_t now_ns, uint64_t patience_ns)
{
	return !h->is_over && (h->spool.queues[SPOOL_SAMPLES].held_bytes < HELD_MOST_BYTES ||
			       now_ns - h->sender.accepted_ns > patience_ns);
}

/* Returns whether nothing is left to do, or waiting has no end. */
static bool is_done(const struct by_hand *h, uint64_t now_ns, uint64_t patience_ns)
{
	if (h->counts.misconfigured)
		return true;
	return h->is_over &&
	       (!sender_is_busy(&h->sender) || now_ns - h->sender.accepted_ns > patience_ns);
}

static int hand_lines_send(struct by_hand *h, uint64_t patience_ns)
{
	int err = 0;

	while (!err && !is_done(h, follower_now(), patience_ns)) {
		struct pollfd in = { .fd = -1, .events = POLLIN };

		if (input_may_come(h, follower_now(), patience_ns))
			in.fd = STDIN_FILENO;
		err = sender_wait(&h->sender, &in, 1, 100);
		if (in.revents)
			input_read(h);
		if (h->is_over || (h->nr && follower_now() - h->since_ns > COLLECT_NS))
			hand_lines_flush(h);
		if (!h->is_over && !sender_is_busy(&h->sender))
			h->sender.accepted_ns = follower_now(); /* nothing to accept */
	}
	return err;
}

static int by_hand_report(const struct by_hand *h)
{
	const uint64_t lines = h->taken + h->too_long;

	if (h->counts.samples >= lines) {
		log_info("sent %" PRIu64 " lines to %s", h->counts.samples, h->target.shown);
		return 0;
	}
	log_error("%" PRIu64 " of %" PRIu64 " lines were not sent to %s", lines - h->counts.samples,
		  lines, h->target.shown);
	return -EIO;
}

int by_hand_run(const struct push_options *o)
{
	static struct by_hand h; /* large */
	char why[CONFIG_WHY_BYTES];
	int err = target_read(&h.target, &o->config, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	if (h.target.dialect == DIALECT_OTLP) {
		log_error("dialect = otlp takes no lines: --lines cannot send them there");
		return -EINVAL;
	}
	signal(SIGPIPE, SIG_IGN);
	h.lines.most = LINE_BYTES;
	if (!h.target.dialect) /* lines from elsewhere have none */
		h.target.dialect = DIALECT_INFLUXDB;
	spool_open(&h.spool, NULL, 0);
	datagrams_init(&h.datagrams, &h.target);
	err = sender_init(&h.sender, &h.target, &h.spool, &h.counts, follower_now());
	if (err)
		log_error("cannot prepare requests: %s", strerror(-err));
	if (!err)
		err = hand_lines_send(&h, o->patience_seconds * NSEC_PER_SEC);
	if (!err)
		err = by_hand_report(&h);
	sender_done(&h.sender);
	datagrams_done(&h.datagrams);
	spool_done(&h.spool);
	line_stream_done(&h.lines);
	buffer_done(&h.text);
	return err;
}

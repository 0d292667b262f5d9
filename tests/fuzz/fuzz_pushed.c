// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datagrams that programs push, marks and metrics, from senders known or not: each that is accepted
 * becomes lines that a reader accepts, and no line is counted twice, accepted or not. They are
 * separated by a byte of 0x1e; the first byte of each chooses its sender.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "base/span_call.h"
#include "measure/feed.h"
#include "measure/job.h"
#include "run/line_protocol.h"
#include "run/reader.h"

#include <errno.h>
#include <sys/socket.h>

#define OURS 100
#define FROM_UDP 1
#define FROM_OURS 2
#define SEPARATOR 0x1e
#define READ_BYTES (64UL << 10)

/* What a listener has read. */
static struct jsonw sent;

/* Reads all that the feed has for its listener. */
static void read_all(struct feed *f, int peer)
{
	ssize_t n;

	do {
		feed_flush(f);
		FUZZ_HOLDS(!f->is_broken);
		sent.text = realloc(sent.text, sent.used + READ_BYTES);
		FUZZ_HOLDS(sent.text);
		n = recv(peer, sent.text + sent.used, READ_BYTES, MSG_DONTWAIT);
		sent.used += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	FUZZ_HOLDS(n < 0 && errno == EAGAIN && !feed_is_waiting(f));
}

static struct datagram *datagram_of(const uint8_t *data, size_t size)
{
	struct datagram *l = malloc(sizeof(*l) + size);

	FUZZ_HOLDS(l && size);
	*l = (struct datagram){
		.is_udp = *data & FROM_UDP,
		.pid = *data & FROM_OURS ? OURS : 7,
		.sent_ns = clock_ns(CLOCK_MONOTONIC),
		.sent_boot_ns = clock_ns(CLOCK_BOOTTIME),
		.length = size - 1,
	};
	memcpy(l->text, data + 1, size - 1);
	l->text[size - 1] = '\0';
	return l;
}

/* The number of lines; metrics of no bytes count as one. */
static uint64_t put_all(struct job *job, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *stop;
	struct datagram *l;
	uint64_t lines = 0;

	for (; data < end; data = stop < end ? stop + 1 : end) {
		stop = memchr(data, SEPARATOR, (size_t)(end - data));
		if (!stop)
			stop = end;
		if (stop == data)
			continue;
		l = datagram_of(data, (size_t)(stop - data));
		lines += l->is_udp && mark_is_one(l->text, l->length)
				 ? point_count_lines(l->text, l->length)
				 : datagram_count_lines(l);
		pushed_put(&job->pushed, l, 0);
	}
	return lines;
}

static uint64_t check_lines(const char *text, size_t size)
{
	const char *end = size ? text + size : text, *stop;
	struct line line = { 0 };
	uint64_t lines = 0;

	for (; text < end; text = stop + 1, lines++) {
		stop = memchr(text, '\n', (size_t)(end - text));
		FUZZ_HOLDS(stop);
		json_decref(fuzz_json(text, (size_t)(stop - text)));
		FUZZ_HOLDS(!line_read(&line, text, (size_t)(stop - text)));
		FUZZ_HOLDS(line.kind == LINE_EVENT || line.kind == LINE_METRIC);
	}
	line_done(&line);
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct books books;
	static struct job job;
	struct run run = { .start_epoch_ns = 1763690000000000000 };
	const struct drain_row ours = { .pid = OURS, .start_boot_ns = 1 };
	const struct pushed_counts *c = &job.pushed.counts;
	uint64_t lines, taken;
	struct feed listener;
	int ends[2];

	FUZZ_HOLDS(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	feed_init(&listener, ends[0]);
	job = (struct job){ .view = { .run = &run, .books = &books } };
	pushed_init(&job.pushed);
	feeds_add(&job.view.feeds, &listener);
	jsonw_reset(&sent);
	job.pushed.is_on = true;
	FUZZ_HOLDS(!senders_init(&job.pushed.senders));
	FUZZ_HOLDS(!senders_set_alive(&job.pushed.senders, &ours, 1));
	lines = put_all(&job, data, size);
	while (!job_close_pushed(&job))
		read_all(&listener, ends[1]);
	read_all(&listener, ends[1]);
	FUZZ_HOLDS(!job.pushed.waiting);
	taken = check_lines(sent.text, sent.used);
	FUZZ_HOLDS(taken == c->marks + c->metrics);
	FUZZ_HOLDS(taken + c->dropped + c->refused + c->malformed <= lines);
	pushed_done(&job.pushed);
	jsonw_done(&job.view.json);
	feed_done(&listener);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

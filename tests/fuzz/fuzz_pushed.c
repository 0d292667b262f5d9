// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datagrams that programs push, marks and metrics, from senders known or not: each that is accepted
 * becomes lines that a reader accepts, and no line is counted twice, accepted or not. They are
 * separated by a byte of 0x1e; the first byte of each chooses its sender.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "base/mark.h"
#include "job/session.h"
#include "wire/line_protocol.h"
#include "wire/reader.h"

#define OURS 100
#define FROM_UDP 1
#define FROM_OURS 2
#define SEPARATOR 0x1e

/* Replaces the stream to the recorder: what is sent is kept here. */
static struct jsonw sent;

void stream_init(struct stream *s, int fd)
{
	*s = (struct stream){ .fd = fd };
}

void stream_done(struct stream *s)
{
	(void)s;
}

bool stream_offer(struct stream *s, struct jsonw *j, size_t most_bytes)
{
	(void)s;
	(void)most_bytes;
	sent.text = realloc(sent.text, sent.used + j->used + 1);
	FUZZ_HOLDS(!j->failed && sent.text);
	memcpy(sent.text + sent.used, j->text, j->used);
	sent.used += j->used;
	jsonw_reset(j);
	return true;
}

void stream_put(struct stream *s, struct jsonw *j)
{
	stream_offer(s, j, SIZE_MAX);
}

void stream_put_spare(struct stream *s, struct jsonw *j, uint64_t lines)
{
	(void)lines;
	stream_offer(s, j, SIZE_MAX);
}

void stream_flush(struct stream *s)
{
	(void)s;
}

void stream_flush_whole(struct stream *s)
{
	(void)s;
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
static uint64_t put_all(struct session *s, const uint8_t *data, size_t size)
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
				 ? point_lines(l->text, l->length)
				 : datagram_count_lines(l);
		pushed_put(&s->pushed, l, 0);
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
	static struct session s;
	struct run run = { .start_epoch_ns = 1763690000000000000 };
	const struct drain_row ours = { .pid = OURS, .start_boot_ns = 1 };
	const struct pushed_counts *c = &s.pushed.counts;
	uint64_t lines, taken;

	s = (struct session){ .run = &run };
	pushed_init(&s.pushed);
	jsonw_reset(&sent);
	s.pushed.is_on = true;
	FUZZ_HOLDS(!senders_init(&s.pushed.senders));
	FUZZ_HOLDS(!senders_set_alive(&s.pushed.senders, &ours, 1));
	lines = put_all(&s, data, size);
	session_close_pushed(&s);
	FUZZ_HOLDS(!s.pushed.waiting);
	taken = check_lines(sent.text, sent.used);
	FUZZ_HOLDS(taken == c->marks + c->metrics);
	FUZZ_HOLDS(taken + c->dropped + c->refused + c->malformed <= lines);
	pushed_done(&s.pushed);
	jsonw_done(&s.json);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* A job of the node under way: the lines of its run among those of the agent's stream. */
#include "web/pulse_parts.h"

#include "base/clock.h"

#include "run/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define READS 64 /* of 64 KiB, at each look */
#define NAMED_WITHIN 100
#define SETTLE_NS (2 * NSEC_PER_SEC) /* until the history has a job that has ended */

struct node_reader {
	struct pulse *pulse;
	struct pulse_run *run;
	int err;
};

/* The first sample makes no text: there is none before it to make rates of. */
static int node_take_sample(struct node_reader *in, const struct sample *s)
{
	struct pulse_run *r = in->run;

	if (r->last_ns)
		return s->elapsed_ns > r->last_ns ? pulse_run_add(in->pulse, r, s) : 0;
	charts_add(&r->charts, s);
	r->last_ns = s->elapsed_ns;
	return 0;
}

static void node_take_line(void *context, const char *text, size_t length)
{
	struct node_reader *in = context;
	size_t head = length < NAMED_WITHIN ? length : NAMED_WITHIN;
	struct line *l;

	if (in->err || !text || !memmem(text, head, in->run->uuid, strlen(in->run->uuid)))
		return;
	l = calloc(1, sizeof(*l)); /* large for a stack */
	in->err = l ? line_read(l, text, length) : -ENOMEM;
	if (!in->err && l->kind == LINE_SAMPLE)
		in->err = node_take_sample(in, &l->sample);
	else if (!in->err && l->kind == LINE_EVENT)
		stall_state_take(&in->run->stall, l->tree);
	else if (!in->err && l->kind == LINE_SUMMARY)
		in->run->ended_ns = clock_ns(CLOCK_MONOTONIC);
	if (l)
		line_done(l);
	free(l);
}

int pulse_node_look(struct pulse *p, struct pulse_run *r, bool *has_ended)
{
	struct node_reader in = { p, r, r->charts.last ? 0 : charts_init(&r->charts) };
	struct pollfd ready = { .fd = r->fd, .events = POLLIN };
	int err = in.err;

	for (int i = 0; !err && !r->ended_ns && i < READS && poll(&ready, 1, 0) > 0; i++) {
		err = line_stream_read(&r->lines, r->fd, node_take_line, &in);
		if (!err)
			err = in.err;
	}
	if (err && err != -ENOMEM && !r->ended_ns) /* the agent has ended, or has given us up */
		r->ended_ns = clock_ns(CLOCK_MONOTONIC);
	*has_ended = r->ended_ns && clock_ns(CLOCK_MONOTONIC) - r->ended_ns > SETTLE_NS;
	return err == -ENOMEM ? err : 0;
}

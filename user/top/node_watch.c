// SPDX-License-Identifier: BSD-2-Clause
#include "top/node_watch.h"

#include "base/clock.h"
#include "store/node_jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES (16 << 20)
#define AGAIN_NS (2 * NSEC_PER_SEC)  /* then the agent is asked again */
#define TURN_NS (20 * NSEC_PER_MSEC) /* a key waits no longer than that */

static void node_watch_forget(struct node_watch *w)
{
	if (w->is_asked)
		agent_call_done(&w->call);
	w->is_asked = w->has_answered = false;
	line_stream_reset(&w->lines);
	node_jobs_done(&w->rows);
}

/* That the agent has ended says more than what is the matter with its socket since. */
static void node_watch_fail(struct node_watch *w, const char *why)
{
	w->is_asked = false;
	if (!w->has_ended)
		snprintf(w->why, sizeof(w->why), "%s", why);
}

static void node_watch_ask(struct node_watch *w)
{
	char why[NODE_WATCH_WHY_BYTES];

	w->asked_ns = clock_ns(CLOCK_MONOTONIC);
	w->is_asked = true;
	if (agent_call_begin_node(&w->call, w->agent, why, sizeof(why)))
		node_watch_fail(w, why);
}

void node_watch_begin(struct node_watch *w, const char *agent)
{
	*w = (struct node_watch){ .agent = agent, .lines.most = LINE_BYTES };
	if (agent)
		node_watch_ask(w);
}

int node_watch_fd(const struct node_watch *w)
{
	return !w->is_asked ? -1 : w->has_answered ? w->call.stream_fd : w->call.control_fd;
}

static bool node_watch_has_input(const struct node_watch *w)
{
	struct pollfd p = { .fd = node_watch_fd(w), .events = POLLIN };

	return p.fd >= 0 && poll(&p, 1, 0) > 0;
}

static void node_watch_take_line(void *context, const char *text, size_t length)
{
	struct node_watch *w = context;
	bool is_last;

	if (text && !w->err && node_jobs_take(&w->rows, text, length, &is_last) == -ENOMEM)
		w->err = -ENOMEM;
}

static void node_watch_read(struct node_watch *w)
{
	char why[NODE_WATCH_WHY_BYTES];
	int err;

	if (!w->has_answered) {
		if (agent_call_answer(&w->call, why, sizeof(why)))
			node_watch_fail(w, why);
		else
			w->has_answered = true;
		return;
	}
	err = line_stream_read(&w->lines, w->call.stream_fd, node_watch_take_line, w);
	w->has_ended = err != 0;
	w->why[0] = '\0';
	if (!err)
		return;
	snprintf(w->why, sizeof(w->why), "the agent at %s has ended", w->agent);
	node_watch_forget(w);
}

int node_watch_step(struct node_watch *w)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + TURN_NS;

	if (w->agent && !w->is_asked && now_ns - w->asked_ns >= AGAIN_NS)
		node_watch_ask(w);
	while (!w->err && node_watch_has_input(w) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		node_watch_read(w);
	return w->err;
}

void node_watch_done(struct node_watch *w)
{
	node_watch_forget(w);
	line_stream_done(&w->lines);
}

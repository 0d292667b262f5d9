// SPDX-License-Identifier: BSD-2-Clause
/* What the collector receives from its launcher before the run begins. */
#include "bpfmon/roles/role.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static const char gone[] = "the launcher is gone";

/* Waits for a packet that is a message of its own or the last part of one; as message_receive(). */
static int packet_next(struct collector *c, struct control *packet)
{
	struct pollfd p = { .fd = c->tenant.assignment.spec.control_fd, .events = POLLIN };
	int got;

	for (;;) {
		got = message_receive(&c->message, p.fd, packet);
		if (got != -EAGAIN)
			return got;
		poll(&p, 1, -1);
	}
}

/* What does not come from the request. */
static void options_take(struct assignment *a, const struct collector_options *o)
{
	struct tracker_options *t = &a->spec.tracker;

	a->spec.control_fd = o->control_fd;
	a->spec.recorder = o->recorder;
	t->verbose = o->verbose;
	t->max_tasks = o->max_tasks;
	t->inject_misses = o->inject_misses;
	t->inject_free_misses = o->inject_free_misses;
	t->refusals = o->refusals;
	a->spec.pss_delay_ns = o->slow_pss_ms * (uint64_t)NSEC_PER_MSEC;
	a->run.is_altered = o->inject_misses || o->inject_free_misses || o->slow_pss_ms ||
			    refusals_any(&o->refusals);
	run_describe_machine(&a->run);
}

int collector_receive(struct collector *c, const struct collector_options *o, char *why,
		      size_t size)
{
	struct control packet;
	char wrong[512];
	int got;

	options_take(&c->tenant.assignment, o);
	c->message.limit = REQUEST_BYTES;
	got = packet_next(c, &packet);
	if (got == 1 && packet.type == CONTROL_REQUEST) {
		got = assignment_take_request(&c->tenant.assignment, &c->message, wrong,
					      sizeof(wrong));
		if (got)
			snprintf(why, size, "the collector cannot take the request: %s", wrong);
		return got;
	}
	snprintf(why, size, "the collector has received no request: %s",
		 got < 0 ? strerror(-got) : gone);
	return got < 0 ? got : -EPROTO;
}

static void description_take(struct collector *c)
{
	char why[256];

	if (assignment_take_description(&c->tenant.assignment, &c->message, why, sizeof(why)))
		log_warn("the collector cannot take the description of the run: %s", why);
}

bool collector_wait_for_start(struct collector *c, uint64_t *when_ns)
{
	struct control packet;
	int got;

	c->message.limit = DESCRIPTION_BYTES;
	while ((got = packet_next(c, &packet)) == 1 && packet.type == CONTROL_DESCRIPTION)
		description_take(c);
	message_done(&c->message);
	if (got < 0)
		log_warn("the collector cannot read from the launcher: %s; nothing is recorded",
			 strerror(-got));
	if (got != 1 || packet.type != CONTROL_START)
		return false;
	*when_ns = packet.when_ns;
	return true;
}

int collector_send_summary(int control_fd, const struct summary *s)
{
	struct jsonw j = { 0 };

	write_summary(&j, s);
	return message_send_json(control_fd, CONTROL_SUMMARY, &j, NULL, 0, -1);
}

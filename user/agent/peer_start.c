// SPDX-License-Identifier: BSD-2-Clause
#include "agent/peer_start.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_SLACK_NS (10 * NSEC_PER_SEC) /* that the start of a command may lie back */

/* The description has been written, and of its texts only the meta line had a use. */
static void description_forget(struct assignment *a)
{
	a->run.command = NULL;
	a->run.meta = NULL;
	a->run.name = a->run.job = a->run.container = a->run.engine = NULL;
	a->run.nr_tags = 0;
	described_done(&a->described);
}

/* The run as others see it: its user, and the name that it was given. */
static void subject_describe(struct peer *p)
{
	const struct run *run = &p->tenant->assignment.run;
	struct subject *s = &p->subject;

	snprintf(s->user, sizeof(s->user), "%s", p->user);
	snprintf(s->name, sizeof(s->name), "%s", run->name ? run->name : "");
	s->stream = &p->agent->stream;
	s->run = *run;
	s->run.name = s->name;
	s->run.job = NULL;
	s->run.nr_tags = 0;
	s->run.command = NULL;
	s->run.cwd[0] = '\0';
	s->run.meta = NULL;
	s->run.targets = NULL;
	s->run.nr_targets = 0;
	s->run.container = s->run.engine = NULL;
	s->label = (struct job_label){
		.id = "run", .kind = "run", .name = s->name, .uid = p->uid, .user = s->user
	};
	s->run.of_node = &s->label;
}

void peer_start(struct peer *p, uint64_t when_ns)
{
	struct tenant *t = p->tenant;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/* the clock of a client may be another one, as in a time namespace */
	if (when_ns > now_ns || when_ns + CLOCK_SLACK_NS < now_ns)
		when_ns = now_ns;
	if (!t->assignment.is_described)
		tenant_set_incomplete(t, "the description of the run was lost");
	memcpy(t->assignment.run.user, p->user, sizeof(p->user));
	t->assignment.run.uid = p->uid;
	t->progress = t->assignment.spec.command ? RUNNING : COMMAND_ENDED;
	p->state = PEER_RUNS;
	p->until_ns = 0;
	p->may_be_empty = true;
	job_start(&t->job, when_ns);
	p->due_ns = t->job.start_ns + t->job.run->interval_ns;
	if (t->assignment.spec.duration_ns)
		p->end_ns = t->job.start_ns + t->assignment.spec.duration_ns;
	subject_describe(p);
	description_forget(&t->assignment);
	t->job.feeds.tap = stream_take;
	t->job.feeds.tap_context = &p->subject;
	stream_put_meta(&p->agent->stream, &p->subject, NULL);
	if (tenant_open_desk(t))
		log_info("a run has no spans: out of memory");
}

// SPDX-License-Identifier: BSD-2-Clause
/* The first lines for a listener: all current jobs and runs. */
#include "agent/agent.h"

struct greeting {
	struct agent *agent;
	struct listener *listener;
	bool with_samples;
};

static void job_greet(void *context, struct node_job *j)
{
	const struct greeting *g = context;

	if (!listener_sees(g->listener, &j->subject))
		return;
	stream_put_meta(&g->agent->stream, &j->subject, g->listener);
	if (g->with_samples)
		stream_put_sample(&g->agent->stream, &j->subject, &j->view.smp, g->listener);
	stream_put_stall(&g->agent->stream, &j->subject, &j->view.stall, j->view.smp.elapsed_ns,
			 g->listener);
}

static void run_greet(const struct greeting *g, const struct peer *p)
{
	struct stream *s = &g->agent->stream;

	if (!p->tenant || p->state != PEER_RUNS || !listener_sees(g->listener, &p->subject))
		return;
	stream_put_meta(s, &p->subject, g->listener);
	if (g->with_samples)
		stream_put_sample(s, &p->subject, &p->tenant->job.view.smp, g->listener);
	stream_put_stall(s, &p->subject, &p->tenant->job.view.stall,
			 p->tenant->job.view.smp.elapsed_ns, g->listener);
}

void agent_greet(struct agent *a, struct listener *l, bool with_samples)
{
	const struct greeting g = { a, l, with_samples };

	node_each(&a->node, job_greet, (void *)&g);
	for (struct peer *p = a->peers; p; p = p->next)
		run_greet(&g, p);
}

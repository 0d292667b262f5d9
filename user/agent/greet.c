// SPDX-License-Identifier: BSD-2-Clause
/* Meta lines of jobs: of all for a new listener, of one whose name is found for the history. */
#include "agent/agent.h"
#include "store/job_title.h"

#include <string.h>

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

/*
 * Samples of a job at which its name is searched: a Slurm job has it when a process of its user has
 * started, which may be after the first.
 */
#define MOST_SEARCHES 4
#define MOST_AT_ONCE 64 /* searches at a sample, as when the agent starts on a full node */

struct naming {
	struct agent *agent;
	struct job_titles titles;
	bool is_open;
	unsigned searches;
};

static void job_name(void *context, struct node_job *j)
{
	struct naming *n = context;
	struct archive *history = &n->agent->archive;

	if (j->title || j->title_searches >= MOST_SEARCHES || n->searches >= MOST_AT_ONCE ||
	    !job_can_have_title(j->rule.id))
		return;
	if (!n->is_open)
		job_titles_open(&n->titles, "");
	n->is_open = true;
	n->searches++;
	j->title_searches++;
	j->title = job_title_find(&n->titles, j->rule.id, j->cgroup);
	if (!j->title)
		return;
	j->subject.run.name = j->title;
	if (history->stream.fd >= 0 && !history->listener.feed.is_broken)
		stream_put_meta(&n->agent->stream, &j->subject, &history->listener);
}

void agent_name_jobs(struct agent *a)
{
	struct naming n = { .agent = a };

	node_each(&a->node, job_name, &n);
	if (n.is_open)
		job_titles_done(&n.titles);
}

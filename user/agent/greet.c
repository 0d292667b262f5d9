// SPDX-License-Identifier: BSD-2-Clause
/* Meta lines of jobs: of all for a new listener, of those known better by now for the history. */
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
 * Samples of a job at which its name and limits are read: they may be set after its first process
 * has started. A Slurm job has a name when a process of its user has started.
 */
#define MOST_LOOKS 4
#define MOST_AT_ONCE 64 /* jobs at a sample, as when the agent starts on a full node */

struct describing {
	struct agent *agent;
	struct job_titles titles;
	bool is_open;
	unsigned looks;
};

static bool job_find_title(struct describing *d, struct node_job *j)
{
	if (j->title || !job_can_have_title(j->rule.id))
		return false;
	if (!d->is_open)
		job_titles_open(&d->titles, "");
	d->is_open = true;
	j->title = job_title_find(&d->titles, j->rule.id, j->cgroup);
	if (j->title)
		j->subject.run.name = j->title;
	return j->title;
}

static void job_look_again(void *context, struct node_job *j)
{
	struct describing *d = context;
	struct archive *history = &d->agent->archive;
	bool is_changed;

	if (!j->cgroup || j->looks >= MOST_LOOKS || d->looks >= MOST_AT_ONCE)
		return;
	d->looks++;
	j->looks++;
	is_changed = node_job_read_limits(&d->agent->node, j);
	is_changed |= job_find_title(d, j);
	if (is_changed && history->stream.fd >= 0 && !history->listener.feed.is_broken)
		stream_put_meta(&d->agent->stream, &j->subject, &history->listener);
}

void agent_describe_jobs(struct agent *a)
{
	struct describing d = { .agent = a };

	node_each(&a->node, job_look_again, &d);
	if (d.is_open)
		job_titles_done(&d.titles);
}

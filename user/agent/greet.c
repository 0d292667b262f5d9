// SPDX-License-Identifier: BSD-2-Clause
/* Meta lines of jobs: of all jobs to a new listener, of one with a new name or limit to all. */
#include "agent/agent.h"
#include "base/clock.h"
#include "base/memory.h"
#include "store/job_title.h"

#include <stdio.h>
#include <stdlib.h>
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
#define PATIENCE_NS (10 * NSEC_PER_SEC) /* with a search */
#define MOST_STUCK 8                    /* searches; then names are searched no more */

static void job_describe_again(struct agent *a, const struct node_job *j)
{
	stream_put_meta(&a->stream, &j->subject, NULL);
	stream_put_stall(&a->stream, &j->subject, &j->view.stall, j->view.smp.elapsed_ns, NULL);
}

struct describing {
	struct agent *agent;
	unsigned looks;
	bool may_search;
	struct title_wanted *wanted; /* owned; NULL or room for MOST_AT_ONCE */
	size_t nr;
};

static void job_want_title(struct describing *d, struct node_job *j)
{
	struct title_wanted *w;

	if (j->title.text || j->title_looks >= MOST_LOOKS || d->nr == MOST_AT_ONCE ||
	    !job_can_have_title(j->rule.id))
		return;
	if (!d->wanted)
		d->wanted = memory_calloc(MOST_AT_ONCE, sizeof(*d->wanted));
	if (!d->wanted)
		return;
	j->title_looks++;
	w = &d->wanted[d->nr];
	snprintf(w->id, sizeof(w->id), "%s", j->rule.id);
	snprintf(w->run, sizeof(w->run), "%s", j->subject.run.id);
	w->cgroup = memory_strdup(j->cgroup);
	d->nr += w->cgroup != NULL;
}

static void job_look_again(void *context, struct node_job *j)
{
	struct describing *d = context;
	bool has_changed;

	if (!j->cgroup)
		return;
	if (j->looks < MOST_LOOKS && d->looks < MOST_AT_ONCE) {
		d->looks++;
		j->looks++;
		has_changed = slurm_find_user(&d->agent->node, j);
		if (node_job_read_limits(&d->agent->node, j) || has_changed)
			job_describe_again(d->agent, j);
	}
	if (d->may_search)
		job_want_title(d, j);
}

struct named {
	struct agent *agent;
	struct title_wanted *all;
	size_t nr;
};

/*
 * The name of a container in a pod comes after its first process. The last look takes that of its
 * pod: the process that holds the namespaces of the pod has no other.
 */
static bool title_is_final(const struct job_title *title, const struct node_job *j)
{
	const bool is_of_pod_only =
		title->names.pod && !title->names.container && strcmp(j->rule.kind, "pod") != 0;

	return title->text && !j->title.text && (!is_of_pod_only || j->title_looks == MOST_LOOKS);
}

static void job_take_title(void *context, struct node_job *j)
{
	struct named *n = context;

	for (size_t i = 0; i < n->nr; i++) {
		struct title_wanted *w = &n->all[i];

		if (!title_is_final(&w->title, j) || strcmp(w->run, j->subject.run.id) != 0)
			continue;
		j->title = w->title; /* moved */
		w->title = (struct job_title){ 0 };
		j->subject.run.name = j->title.text;
		j->subject.label.in_pod = &j->title.names;
		job_describe_again(n->agent, j);
	}
}

void agent_end_naming(struct agent *a)
{
	if (a->naming)
		title_search_end(a->naming);
	a->naming = NULL;
}

/* Takes the names that were found. Returns whether another search may start. */
static bool names_take(struct agent *a)
{
	struct named n = { .agent = a };

	if (!a->naming)
		return a->stuck_searches < MOST_STUCK;
	n.all = title_search_results(a->naming, &n.nr);
	if (n.all)
		node_each(&a->node, job_take_title, &n);
	else if (clock_ns(CLOCK_MONOTONIC) - a->naming_since_ns < PATIENCE_NS)
		return false;
	else
		a->stuck_searches++;
	agent_end_naming(a);
	return a->stuck_searches < MOST_STUCK;
}

void agent_describe_jobs(struct agent *a)
{
	struct describing d = { .agent = a, .may_search = names_take(a) };

	node_each(&a->node, job_look_again, &d);
	if (d.nr) {
		a->naming = title_search_start(d.wanted, d.nr);
		a->naming_since_ns = clock_ns(CLOCK_MONOTONIC);
	} else {
		free(d.wanted);
	}
}

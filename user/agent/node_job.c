// SPDX-License-Identifier: BSD-2-Clause
#include "agent/node_job.h"

#include "agent/users.h"
#include "base/clock.h"
#include "waits/idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rules_job node_job_name(const char *id, const char *name)
{
	struct rules_job rule = { .uid = -1 };

	snprintf(rule.kind, sizeof(rule.kind), "%s", id);
	snprintf(rule.id, sizeof(rule.id), "%s", id);
	snprintf(rule.name, sizeof(rule.name), "%s", name);
	return rule;
}

/* The first @depth components of @path, which are the job's own. NULL without memory. */
static char *cgroup_of_job(const char *path, unsigned depth)
{
	const char *end = path;

	for (unsigned i = 0; i < depth && *end; i++)
		end = strchrnul(end + 1, '/');
	return depth ? strndup(path, (size_t)(end - path)) : strdup(path);
}

/* Those that the accounts and the drain have: for others each job would read files. */
static void metrics_of_view(const struct node *n, struct metric_set *set)
{
	const struct metric_set *usable = &n->books->tracker.usable;

	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) && source != SOURCE_PROCFS &&
		    source != SOURCE_CGROUP && source != SOURCE_HOST)
			metric_put(set, (enum metric_id)i);
	}
}

static void node_job_describe(struct node *n, struct node_job *j)
{
	struct subject *subject = &j->subject;
	struct run *run = &subject->run;

	subject->stream = n->stream;
	subject->label = (struct job_label){ .id = j->rule.id,
					     .kind = j->rule.kind,
					     .name = j->rule.name,
					     .cgroup = j->cgroup,
					     .uid = j->rule.uid,
					     .user = subject->user,
					     .is_adopted = !n->is_started && j->above };
	user_name_of(j->rule.uid, subject->user, sizeof(subject->user));
	run_describe_machine(run);
	gethostname(run->host, sizeof(run->host) - 1);
	snprintf(run->user, sizeof(run->user), "%s", subject->user);
	run->uid = j->rule.uid >= 0 ? (uid_t)j->rule.uid : 0;
	run->name = j->rule.name;
	run->job = j->rule.id;
	run->cgroup = j->cgroup ? j->cgroup : "/";
	run->hierarchy = n->hierarchy;
	run->interval_ns = n->interval_ns;
	metrics_of_view(n, &run->wanted);
	run->of_node = &subject->label;
}

/* Where the memory of the job is: only a hierarchy with that controller has it. */
static const struct cgroup *folder_of_job(const struct node *n, struct node_job *j)
{
	struct cgroup *cg = &j->folder;
	int length;

	cg->is_v2 = !strcmp(n->hierarchy, "unified");
	if (!j->cgroup || (!cg->is_v2 && strcmp(n->hierarchy, "memory") != 0))
		return NULL;
	length = snprintf(cg->path, sizeof(cg->path), "%s%s", n->cgroups.point, j->cgroup);
	return length < (int)sizeof(cg->path) ? cg : NULL;
}

void node_job_extend(struct node_job *j, const char *path, unsigned depth)
{
	char *own = cgroup_of_job(path, depth);

	if (own && j->cgroup && strcmp(own, j->cgroup) != 0) {
		j->spec.cgroup = NULL;
		j->job.summary.seen.has_cgroup = false;
	}
	free(own);
}

void node_job_begin(struct node *n, struct node_job *j, struct rules_job rule, const char *path,
		    struct node_job *above)
{
	char why[256];

	memset(j, 0, sizeof(*j));
	j->above = above;
	j->rule = rule;
	j->cgroup = path ? cgroup_of_job(path, rule.depth) : NULL;
	j->spec = (struct job_spec){
		.run = &j->subject.run,
		.is_view = true,
		.stream_fd = -1,
		.span_fd = -1,
		.is_idle = processes_are_idle,
		.stalled_after_ns = n->stalled_after_ns,
		.stalled_below_ppm = n->stalled_below_ppm,
		.hides_others = true,
		.shown_to = rule.uid >= 0 ? (uid_t)rule.uid : 0,
		.cgroup = folder_of_job(n, j),
	};
	node_job_describe(n, j);
	job_init(&j->job);
	job_open(&j->job, &j->spec, n->books, why, sizeof(why)); /* of a view it cannot fail */
	j->job.feeds.tap = stream_take;
	j->job.feeds.tap_context = &j->subject;
	job_write_begin(&j->job, clock_ns(CLOCK_MONOTONIC));
	stream_put_meta(n->stream, &j->subject, NULL);
}

void node_job_end(struct node_job *j)
{
	job_close(&j->job);
	job_close_step(&j->job); /* a view has nothing to wait for */
	feeds_flush(&j->job.feeds);
	while (j->job.feeds.first) {
		j->job.feeds.first->is_ended = true;
		feeds_remove(&j->job.feeds, j->job.feeds.first);
	}
	job_done(&j->job);
	free(j->cgroup);
}

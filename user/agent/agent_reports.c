// SPDX-License-Identifier: BSD-2-Clause
/* What the books of the node report, to its jobs and to the runs of its clients. */
#include "agent/agent.h"
#include "measure/reports.h"

static void agent_drain_begin(void *context)
{
	struct agent *a = context;

	node_drain_begin(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.books)
			job_drain_begin(&p->tenant->job);
}

static void agent_drain_end(void *context)
{
	struct agent *a = context;

	node_drain_end(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.books)
			job_drain_end(&p->tenant->job);
}

static void target_ignore(void *context, const struct cgroup_event *e)
{
	(void)context, (void)e;
}

static void node_total_take(void *context, const struct account_key *key,
			    const struct account *total)
{
	node_total(&((struct agent *)context)->node, key, total);
}

static void node_slice_take(void *context, const struct slice *slice)
{
	node_slice(&((struct agent *)context)->node, slice);
}

static void node_oom_take(void *context, const struct oom_event *e)
{
	node_oom(&((struct agent *)context)->node, e);
}

static void node_begun_take(void *context, const struct account_key *key)
{
	node_begun(&((struct agent *)context)->node, key);
}

static void node_removed_take(void *context, const struct account_key *key,
			      const struct account *total)
{
	node_removed(&((struct agent *)context)->node, key, total);
}

static void node_cgroup_take(void *context, const struct cgroup_name_event *e)
{
	node_cgroup(&((struct agent *)context)->node, e);
}

static void node_empty_take(void *context, const struct account_key *key)
{
	struct agent *a = context;

	(void)key;
	for (struct peer *p = a->peers; p; p = p->next)
		p->may_be_empty = true;
}

const struct books_ops agent_reports = {
	.drain_begin = agent_drain_begin,
	.total = report_total,
	.slice = report_slice,
	.socket = report_socket,
	.unread = report_unread,
	.drain_end = agent_drain_end,
	.process = report_process,
	.oom = report_oom,
	.cgroup = target_ignore,
	.node_total = node_total_take,
	.node_slice = node_slice_take,
	.node_oom = node_oom_take,
	.node_begun = node_begun_take,
	.node_removed = node_removed_take,
	.node_cgroup = node_cgroup_take,
	.node_empty = node_empty_take,
};

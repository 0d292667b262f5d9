// SPDX-License-Identifier: BSD-2-Clause
/* Block I/O of the jobs of the node: each cgroup has its counts in the books. */
#include "agent/node.h"

static void block_begin(void *context, struct node_job *j)
{
	(void)context;
	block_io_begin(&j->view.block_io);
}

/*
 * Block I/O of a cgroup that is no longer known, such as late writeback, counts for the node only.
 */
static struct node_job *job_of_block(struct node *n, const struct block_key *key)
{
	const struct known_cgroup *one = cgroups_find(&n->cgroups, key->cgroup);

	return one && one->job ? one->job : &n->whole;
}

static void block_share(void *context, const struct block_key *key, const struct block_count *count)
{
	for (struct node_job *j = job_of_block(context, key); j; j = j->above)
		block_io_add(&j->view.block_io, key, count);
}

void node_block_read(struct node *n)
{
	if (!n->counts_blocks)
		return;
	node_each(n, block_begin, NULL);
	tracker_each_block(&n->books->tracker, block_share, n);
}

static void block_end(void *context, const struct block_key *key, const struct block_count *count)
{
	struct node *n = context;
	const struct known_cgroup *one = cgroups_find(&n->cgroups, key->cgroup);

	if (!one || !one->is_over)
		return;
	for (struct node_job *j = one->job; j; j = j->above)
		block_io_add_ended(&j->view.block_io, key, count);
	tracker_block_remove(&n->books->tracker, key);
}

void node_block_settle(struct node *n)
{
	if (!n->counts_blocks)
		return;
	tracker_each_block(&n->books->tracker, block_end, n);
	node_block_read(n);
}

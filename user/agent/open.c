// SPDX-License-Identifier: BSD-2-Clause
/* From a configuration to an agent that can begin its turns, and back. */
#include "agent/open.h"

#include "agent/door.h"
#include "agent/agent_rights.h"
#include "agent/sources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/task_delays.h"

#define PRIVATE_PACE_NS (10 * NSEC_PER_MSEC) /* in which its owner may start a run */

static bool agent_counts_blocks(const struct agent *a)
{
	bool fits = a->config.block_io && block_hierarchy_fits(&a->root);

	if (a->config.block_io && !fits)
		log_warn("block I/O is not counted: jobs are the cgroups of '%s', which has no io "
			 "controller; see hierarchy in the configuration",
			 a->root.cg.path);
	return fits;
}

static int agent_open_books(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	struct tracker_options options = {
		.want_memory = true,
		.can_seed = true,
		.can_move = true,
		.may_end = true,
		.whole_node = true,
		.only_runs = a->is_private, /* jobs of the node are not asked of it */
		.cgroup = &a->root,
		/* it chooses maps of which a drain reads each bucket; a short run has two drains */
		.interval_ns = a->is_private ? PRIVATE_PACE_NS : a->config.interval_ns,
		.max_tasks = (unsigned)a->config.max_tasks,
		.inject_misses = o->inject_misses,
		.verbose = o->verbose,
	};
	int err = cgroups_find_root(a->config.hierarchy, &a->root, why, size);

	metric_set_all(&options.wanted);
	if (!a->config.net)
		metric_set_clear_source(&options.wanted, SOURCE_NET);
	if (!a->config.io_kinds)
		metric_set_clear_source(&options.wanted, SOURCE_KINDS);
	if (!task_delays_are_kept())
		metric_set_clear_source(&options.wanted, SOURCE_DELAY);
	if (!err && !agent_counts_blocks(a))
		metric_set_clear_source(&options.wanted, SOURCE_BLOCK);
	if (!err)
		err = books_open(&a->books, &options, &agent_reports, a, why, size);
	if (!err)
		err = node_open(&a->node, &a->books, &a->root, a->rules, &a->stream,
				a->config.interval_ns);
	if (err)
		return err;
	a->node.stalled_below_ppm = a->config.stalled_below_ppm;
	a->node.stalled_after_ns = a->config.stalled_after_ns; /* the node itself never is */
	err = tracker_seed_node(&a->books.tracker);
	books_consume(&a->books);
	books_drain(&a->books, true);
	if (!err)
		unseen_find(a);
	node_start(&a->node);
	return err;
}

static int agent_configure(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	a->clients.limit = sizeof(((struct control *)0)->text);
	a->is_private = o->given != NULL;
	if (!a->is_private)
		return config_read(o->config, &a->config, why, size);
	a->config = *o->given;
	return 0;
}

int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	int err = agent_configure(a, o, why, size);

	if (!err)
		err = rules_open(&a->config, &a->rules, why, size);
	if (!err)
		err = loop_init(&a->loop);
	a->porter = o->porter;
	if (!err && a->porter.fd >= 0)
		err = door_open(a);
	if (!err) /* before there are jobs: it gets all their lines */
		err = archive_open(a, o->history_stream_fd, o->history_control_fd);
	if (!err)
		err = agent_open_books(a, o, why, size);
	if (!err)
		err = agent_sources_open(a, o, why, size);
	if (!err)
		agent_drop_rights(tracker_may_drain(&a->books.tracker));
	a->started_ns = clock_ns(CLOCK_MONOTONIC);
	a->due_ns = a->started_ns + a->config.interval_ns;
	return err;
}

void agent_close(struct agent *a)
{
	if (a->node.whole.job.books)
		node_end(&a->node);
	archive_close(&a->archive);
	node_done(&a->node);
	books_close(&a->books);
	node_stream_done(&a->stream);
	message_done(&a->clients);
	door_close(a);
	agent_sources_close(a);
	rules_close(a->rules);
	config_done(&a->config);
}

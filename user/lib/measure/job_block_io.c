// SPDX-License-Identifier: BSD-2-Clause
/* The block I/O of a job that follows one cgroup, of which alone the programs then count it. */
#include "measure/job.h"

#include <string.h>

static void block_io_refuse(struct job *job, const char *why)
{
	struct run *run = job->view.run;

	snprintf(job->view.block_io.why, sizeof(job->view.block_io.why), "%s", why);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->source != SOURCE_BLOCK || !metric_has(&run->usable, id))
			continue;
		run->unusable[i] = job->view.block_io.why;
		metric_drop(&run->usable, id);
	}
}

void job_open_block_io(struct job *job, const struct cgroup_target *target)
{
	struct tracker *t = &job->view.books->tracker;
	char why[200];
	uint64_t id;

	if (!metric_set_has_source(&job->view.run->usable, SOURCE_BLOCK))
		return;
	if (job->view.books->whole_node) {
		block_io_refuse(job, "the agent counts it for the jobs of the node alone");
		return;
	}
	id = block_target_id(target, why, sizeof(why));
	if (!id)
		block_io_refuse(job, why);
	else
		tracker_block_follow(t, id);
}

void job_reopen_block_io(struct job *job)
{
	char why[200];
	uint64_t id;

	if (job->view.books->whole_node ||
	    !metric_set_has_source(&job->view.run->usable, SOURCE_BLOCK))
		return;
	id = block_target_id(job->cgroup.target, why, sizeof(why));
	if (id)
		tracker_block_follow(&job->view.books->tracker, id);
}

static void block_take(void *context, const struct block_key *key, const struct block_count *count)
{
	block_io_add(context, key, count);
}

void job_read_block_io(struct job *job)
{
	struct tally_view *v = &job->view;

	if (!metric_set_has_source(&v->run->usable, SOURCE_BLOCK))
		return;
	block_io_begin(&v->block_io);
	v->has_block_io = !tracker_each_block(&v->books->tracker, block_take, &v->block_io);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cgroup that holds a run and nothing else, if there is one: its own, the one attached to, or
 * that of a container or batch step that it has to itself. What the kernel charges to it is the
 * memory that the run needs, but for what can be dropped.
 */
#ifndef MEASURE_RUN_CGROUP_H
#define MEASURE_RUN_CGROUP_H

#include "measure/cgroup_stat.h"
#include "measure/row_list.h"

#include <sys/types.h>

struct run_cgroup {
	struct cgroup_target target; /* not its own: others may come to it */
	bool may_have_others;
	pid_t launcher; /* it waits, and so do its ancestors: they may be in it, too; 0: none */
	struct cgroup_stat stat;
	uint64_t base_bytes; /* what it held as the run began, and its mark then */
	uint64_t base_most_bytes;
	uint64_t checked_bytes; /* the largest figure for which it was seen to hold nothing else */
};

/* Harmless to close. */
void run_cgroup_init(struct run_cgroup *g);
/* @own holds the run alone; NULL: looks for one that does, from where the process @pid is, whose
 * parent is the launcher if @is_command. It may find none. */
void run_cgroup_open(struct run_cgroup *g, const struct cgroup_target *own, pid_t pid,
		     bool is_command);
/*
 * The memory of the run at a sample that cannot be dropped, in bytes. @rows: its processes. False:
 * there is no such cgroup, or something else is in it now.
 */
bool run_cgroup_read(struct run_cgroup *g, const struct row_list *rows, uint64_t *bytes);
/* What it cannot have exceeded, by the kernel's high-water mark. False: that is not known, or was
 * reached before the run. */
bool run_cgroup_most(const struct run_cgroup *g, uint64_t *bytes);
/*
 * Of @cg, which holds the job alone: the same two; 0 where the first cannot exceed @known_bytes,
 * and where the second is not known. Nothing stays open, as an agent has many jobs. False: the
 * first is not known.
 */
bool run_cgroup_glance(struct run_cgroup *g, const struct cgroup *cg, uint64_t known_bytes,
		       uint64_t *bytes, uint64_t *most_bytes);
void run_cgroup_done(struct run_cgroup *g);

#endif

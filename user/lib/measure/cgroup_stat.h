/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a cgroup's own files, for any cgroup. They stay open between samples. */
#ifndef MEASURE_CGROUP_STAT_H
#define MEASURE_CGROUP_STAT_H

#include "base/cgroup.h"
#include "run/run.h"
#include "run/sample.h"

enum cgroup_file {
	CGROUP_USAGE,
	CGROUP_STAT,
	CGROUP_SWAP,
	CGROUP_KERNEL,
	CGROUP_EVENTS,
	CGROUP_PEAK,
	CGROUP_CPU,
	CGROUP_CPU_USER,
	CGROUP_CPU_SYSTEM,
	CGROUP_THROTTLE,
	CGROUP_PIDS,
	CGROUP_IO,
	CGROUP_CPU_PRESSURE,
	CGROUP_MEMORY_PRESSURE,
	CGROUP_IO_PRESSURE,
	NR_CGROUP_FILES
};

struct cgroup_stat {
	const struct cgroup_target *target; /* not owned; NULL: nothing is read */
	int fd[NR_CGROUP_FILES];            /* owned; -1: nothing is read from it */
	/* Of a counter: the value last read, and the increase since the first reading. */
	uint64_t last[NR_METRICS], since[NR_METRICS];
	struct metric_set began;
};

/* Opens nothing: cgroup_stat_done() is harmless after it. */
void cgroup_stat_init(struct cgroup_stat *c);
/*
 * Opens the files of @target (NULL: there is none), and removes from @run->usable what they do not
 * have, with the reason. Counters count from now on; their values now go into @run->baseline. If no
 * metric of it is wanted, nothing is opened.
 */
void cgroup_stat_open(struct cgroup_stat *c, const struct cgroup_target *target, struct run *run);
/* Opens the files of what @target holds of which kind, and of its mark. */
void cgroup_stat_open_memory(struct cgroup_stat *c, const struct cgroup_target *target);
/* The cgroup has been made again under its name: counters continue from their last values. */
void cgroup_stat_reopen(struct cgroup_stat *c);
/* Sets those metrics of @usable that can be read. */
void cgroup_stat_read(struct cgroup_stat *c, const struct metric_set *usable, struct sample *smp);
/*
 * Opens the file of the memory that @target holds, unless it is open: to be looked at often,
 * whether or not a metric is wanted. False: there is none.
 */
bool cgroup_stat_watch(struct cgroup_stat *c, const struct cgroup_target *target);
/* The memory that it holds now. False: that is not known. */
bool cgroup_stat_usage(const struct cgroup_stat *c, uint64_t *bytes);
/* The most memory it has held since it was made. False: that is not known. */
bool cgroup_stat_peak(const struct cgroup_stat *c, uint64_t *bytes);
void cgroup_stat_done(struct cgroup_stat *c);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the files of a cgroup. They stay open between samples. */
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
	CGROUP_DMEM,
	CGROUP_IO,
	CGROUP_CPU_PRESSURE,
	CGROUP_MEMORY_PRESSURE,
	CGROUP_IO_PRESSURE,
	NR_CGROUP_FILES
};

struct cgroup_stat {
	const struct cgroup_target *target; /* not owned; NULL: nothing is read */
	int fd[NR_CGROUP_FILES];            /* owned; -1: not open */
	/* For counters: the last value read, and the increase since the first reading. */
	uint64_t last[NR_METRICS], since[NR_METRICS];
	struct metric_set began;
};

/* Opens nothing. cgroup_stat_done() may follow. */
void cgroup_stat_init(struct cgroup_stat *c);
/*
 * Opens the files of @target (may be NULL) unless no cgroup metric is wanted. Removes metrics that
 * cannot be read from run->usable and sets the reason. Counters start at 0 now; their present
 * values are stored in run->baseline.
 */
void cgroup_stat_open(struct cgroup_stat *c, const struct cgroup_target *target, struct run *run);
/* Opens only the files with memory by kind, kernel memory and the high-water mark. */
void cgroup_stat_open_memory(struct cgroup_stat *c, const struct cgroup_target *target);
/* Call when the cgroup was recreated under its path: counters continue from their last values. */
void cgroup_stat_reopen(struct cgroup_stat *c);
/* Sets the metrics of @usable that can be read. */
void cgroup_stat_read(struct cgroup_stat *c, const struct metric_set *usable, struct sample *smp);
/*
 * Opens the memory usage file of @target, unless it is open, for frequent reading, independent of
 * wanted metrics. Returns false if there is none.
 */
bool cgroup_stat_watch(struct cgroup_stat *c, const struct cgroup_target *target);
/* Reads the present memory usage. Returns false if it cannot be read. */
bool cgroup_stat_usage(const struct cgroup_stat *c, uint64_t *bytes);
/* Reads the cgroup's high-water mark of memory. Returns false if it cannot be read. */
bool cgroup_stat_peak(const struct cgroup_stat *c, uint64_t *bytes);
void cgroup_stat_done(struct cgroup_stat *c);

#endif

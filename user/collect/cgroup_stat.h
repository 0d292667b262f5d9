/* SPDX-License-Identifier: BSD-2-Clause */
/* What a cgroup's own files say of its memory, whoever made it. They stay open between samples. */
#ifndef COLLECT_CGROUP_STAT_H
#define COLLECT_CGROUP_STAT_H

#include "base/cgroup.h"
#include "collect/pressure.h"
#include "model/run.h"
#include "model/sample.h"

enum cgroup_file {
	CGROUP_USAGE,
	CGROUP_STAT,
	CGROUP_SWAP,
	CGROUP_KERNEL,
	CGROUP_EVENTS,
	CGROUP_PEAK,
	NR_CGROUP_FILES
};

struct cgroup_stat {
	bool is_v2;
	int fd[NR_CGROUP_FILES]; /* owned; -1: nothing is read from it */
	struct pressure pressure;
};

/* Nothing is open yet. */
void cgroup_stat_init(struct cgroup_stat *c);
/*
 * Opens the files of @cg (NULL: there is none), and takes out of @run->usable what they do not
 * tell, with the reason. Where nothing of it is wanted nothing is opened.
 */
void cgroup_stat_open(struct cgroup_stat *c, const struct cgroup *cg, struct run *run);
/* Sets what is in @usable and can be read. */
void cgroup_stat_read(struct cgroup_stat *c, const struct metric_set *usable, struct sample *smp);
/* The most it has held since it was made. False: that is not known. */
bool cgroup_stat_peak(const struct cgroup_stat *c, uint64_t *bytes);
void cgroup_stat_done(struct cgroup_stat *c);

#endif

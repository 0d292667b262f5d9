/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines at samples how much memory a run needs: from a cgroup that holds only the run, else by
 * reading PSS where the sum of RSS would count shared pages several times.
 */
#ifndef MEASURE_NEEDED_WATCH_H
#define MEASURE_NEEDED_WATCH_H

#include "measure/cgroup_stat.h"
#include "measure/task_rows.h"

#include <sys/types.h>

/*
 * The cgroup that holds a run and nothing else, if there is one: its own, the one attached to, or
 * that of a container or batch step. Its charge, less what the kernel can drop, is what the run
 * needs.
 */
struct run_cgroup {
	struct cgroup_target target; /* empty path: none */
	/* true unless it is the run's own: processes may be moved in */
	bool may_have_others;
	pid_t launcher; /* it and its ancestors wait and may be inside; 0: none */
	struct cgroup_stat stat;
	uint64_t base_bytes; /* undroppable memory and high-water mark when the run began */
	uint64_t base_most_bytes;
	/* largest value at which the cgroup was verified to hold nothing else */
	uint64_t checked_bytes;
};

/* run_cgroup_done() may follow. */
void run_cgroup_init(struct run_cgroup *g);
void run_cgroup_done(struct run_cgroup *g);

/*
 * Reads @cg, which holds only a job. Sets @bytes to the memory that cannot be dropped, or 0 if that
 * cannot exceed @known_bytes, and @most_bytes to the high-water mark, 0 if unknown. Keeps nothing
 * open. Returns false if @bytes is unknown.
 */
bool cgroup_read_needed(const struct cgroup *cg, uint64_t known_bytes, uint64_t *bytes,
			uint64_t *most_bytes);

struct job;

struct needed_watch {
	struct run_cgroup cgroup;
	/* The last value, RSS at that time, and CLOCK_MONOTONIC; 0: none. */
	uint64_t now_bytes, now_rss_bytes, now_ns;
	bool now_is_least; /* a lower bound: some processes were not read */
	bool is_reading;   /* PSS of all processes is being read; values of that sample: */
	uint64_t rss_bytes, elapsed_ns, faults, births;
	uint64_t sample_rss_bytes, sample_faults; /* of the sample before */
	/* At the last complete reading: */
	bool has_read;
	uint64_t read_rss_bytes, read_faults;
	/*
	 * Least shared memory of the machine (tmpfs included) since the run began, and the most
	 * that the run had mapped of it at a sample, counted per process.
	 */
	uint64_t machine_shared_bytes, mapped_bytes;
};

/* @own: a cgroup that holds only the run, or NULL. */
void needed_watch_open(struct job *job, const struct cgroup_target *own);
/* Uses the sample that was just made. May start reading PSS, without waiting. */
void needed_watch_sample(struct job *job);
/* Reads the cgroup after a drain between samples. Returns false if no cgroup holds only the run. */
bool needed_watch_read_cgroup(struct job *job);
/*
 * Sets @bytes to what the run needs by a cgroup or PSS reading of the last second, and @most to
 * that plus the growth of RSS since, or UINT64_MAX if processes were missed. Returns false if there
 * is no recent reading.
 */
bool needed_watch_now(const struct job *job, uint64_t *bytes, uint64_t *most);
/*
 * Requests a reading of PSS: at once if RSS has grown since the last, else when the budget allows.
 * Returns false if PSS cannot be read.
 */
bool needed_watch_request_pss(struct job *job);
/* Takes a finished reading of PSS. */
void needed_watch_take(struct job *job);
/* Sets the results in the summary at the end of the run. */
void needed_watch_finish(struct job *job);

#endif

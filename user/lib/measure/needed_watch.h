/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out at samples how much memory a run needs: from a cgroup that holds it alone, else by
 * reading PSS where the sum of RSS would count pages several times.
 */
#ifndef MEASURE_NEEDED_WATCH_H
#define MEASURE_NEEDED_WATCH_H

#include "measure/cgroup_stat.h"
#include "measure/task_rows.h"

#include <sys/types.h>

/*
 * The cgroup that holds a run and nothing else, if there is one: its own, the one attached to, or
 * that of a container or batch step that it has to itself. What the kernel charges to it is the
 * memory that the run needs, but for what can be dropped.
 */

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
void run_cgroup_done(struct run_cgroup *g);

/*
 * Of @cg, which holds a job alone: the memory that cannot be dropped, 0 where it cannot exceed
 * @known_bytes; and what it cannot have exceeded, by the kernel's high-water mark, 0 where that is
 * not known. Nothing stays open. Returns false if the first is not known.
 */
bool cgroup_glance(const struct cgroup *cg, uint64_t known_bytes, uint64_t *bytes,
		   uint64_t *most_bytes);

struct job;

struct needed_watch {
	struct run_cgroup cgroup;
	/* The last figure, RSS when it was read, and CLOCK_MONOTONIC then; 0: there is none. */
	uint64_t now_bytes, now_rss_bytes, now_ns;
	bool now_is_least; /* some was not read, or is in no reading: it needs more */
	bool is_reading;   /* the PSS of all processes at the next sample: */
	uint64_t rss_bytes, elapsed_ns, faults, births;
	uint64_t sample_rss_bytes, sample_faults; /* of the sample before */
	/* As of the last reading: */
	bool has_read;
	uint64_t read_rss_bytes, read_faults;
	/* Files in memory and shared memory of the machine: the least since the run began; and what
	 * the run has mapped of it, the most at a sample, as counted for each process. */
	uint64_t machine_shared_bytes, mapped_bytes;
};

/* @own: a cgroup that holds the run alone; or NULL. */
void needed_watch_open(struct job *job, const struct cgroup_target *own);
/* Of the sample that has just been made; may begin to read PSS, for which it does not wait. */
void needed_watch_sample(struct job *job);
/* Between samples, after a drain: reads the cgroup. False: none holds the run alone. */
bool needed_watch_look(struct job *job);
/*
 * What the run needs, as its cgroup or PSS was read in the last second. @most: with what RSS has
 * grown by since; UINT64_MAX: not known, as processes were born during the reading. False: neither
 * is known.
 */
bool needed_watch_now(const struct job *job, uint64_t *bytes, uint64_t *most);
/* Has PSS read soon: at once where more is resident than at the last reading, else as the budget
 * allows. False: it cannot be read. */
bool needed_watch_ask(struct job *job);
/* PSS has been read, as far as it could be. */
void needed_watch_take(struct job *job);
/* The run is over: sets what is known in its summary. */
void needed_watch_finish(struct job *job);

#endif

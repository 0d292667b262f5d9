/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that a run needs, as one figure from the best source there is. */
#ifndef RUN_NEEDED_H
#define RUN_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

struct sample;
struct summary;

/* What is found out while the run goes on. */
struct needed_seen {
	/* Of a cgroup that holds the run alone: what cannot be dropped, the largest at a sample;
	 * and what the kernel's high-water mark allows. */
	bool has_cgroup, has_cgroup_most;
	uint64_t cgroup_bytes, cgroup_elapsed_ns, cgroup_most_bytes;
	/* The largest PSS of all its processes together. The largest RSS of a sample with such a
	 * reading; and of one where it was wanted and could not be made, since the last reading
	 * that covers it. */
	bool has_pss;
	uint64_t pss_bytes, pss_elapsed_ns, covered_rss_bytes, unread_rss_bytes;
	uint64_t sample_rss_bytes; /* the largest RSS of a sample */
	/* By how much files in memory have grown, at most, that no process of the run maps. */
	uint64_t unmapped_bytes;
};

struct memory_needed {
	uint64_t bytes;
	bool has_time;
	uint64_t elapsed_ns;
	char witness[8]; /* "cgroup", "pss" or "rss"; empty: nothing is known */
	char bound[12];  /* "equal", within a tenth; "at_most": it needs no more; "at_least" */
	/* Files in memory (tmpfs, memfd), which only a cgroup would have: not in @bytes; up to so
	 * many; 0: none, or so few that nobody cares. */
	uint64_t unmapped_bytes;
};

/* The memory of the run's cgroup at a sample that cannot be dropped. */
void needed_see_cgroup(struct needed_seen *n, uint64_t bytes, uint64_t elapsed_ns);
/* PSS of all its processes, and the sum of their RSS. */
void needed_see_pss(struct needed_seen *n, uint64_t pss_bytes, uint64_t rss_bytes,
		    uint64_t elapsed_ns);
/* What it comes to; of a summary that has the figure already that one. */
struct memory_needed memory_needed_of(const struct summary *s);
/* What was written of it; texts of any origin are cut. */
void needed_set_source(struct memory_needed *n, const char *witness, const char *bound);
/* Before the number in a text: "", "up to " or "at least "; in a table "", "<= " or ">= ". */
const char *needed_bound_text(const struct memory_needed *n);
const char *needed_bound_sign(const struct memory_needed *n);
bool needed_is_least(const struct memory_needed *n);

#endif

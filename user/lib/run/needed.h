/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates the memory that a run needs as one number, from the best source available. */
#ifndef RUN_NEEDED_H
#define RUN_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

struct sample;
struct summary;

/* Observations collected while the run goes on. */
struct needed_seen {
	/*
	 * For a cgroup that contains only the run: the largest unreclaimable memory at a sample,
	 * and the upper bound given by the kernel's high-water mark.
	 */
	bool has_cgroup, has_cgroup_most;
	uint64_t cgroup_bytes, cgroup_elapsed_ns, cgroup_most_bytes;
	/*
	 * The largest PSS of all processes together; the largest RSS of a sample with a PSS
	 * reading; and that of samples whose reading failed, until a later one covers it.
	 */
	bool has_pss;
	uint64_t pss_bytes, pss_elapsed_ns, covered_rss_bytes, unread_rss_bytes;
	uint64_t sample_rss_bytes; /* largest RSS of a sample */
	/* Upper bound of the growth of in-memory files that no process of the run maps. */
	uint64_t unmapped_bytes;
};

struct memory_needed {
	uint64_t bytes;
	bool has_time;
	uint64_t elapsed_ns;
	char witness[8]; /* source: "cgroup", "pss" or "rss"; empty: unknown */
	char bound[12];  /* "equal" (within a tenth), "at_most" (upper bound) or "at_least" */
	/*
	 * Upper bound of in-memory files (tmpfs, memfd) that only a cgroup would account for; not
	 * part of @bytes. 0 if there are none or they are negligible.
	 */
	uint64_t unmapped_bytes;
};

/* Records the unreclaimable memory of the run's cgroup at a sample. */
void needed_record_cgroup(struct needed_seen *n, uint64_t bytes, uint64_t elapsed_ns);
/* Records the PSS of all processes, and the sum of their RSS. */
void needed_record_pss(struct needed_seen *n, uint64_t pss_bytes, uint64_t rss_bytes,
		       uint64_t elapsed_ns);
/* Returns the estimate. Uses the value in @s if it already has one. */
struct memory_needed memory_needed_of(const struct summary *s);
/* Sets source and bound from text of any origin; truncates it. */
void needed_set_source(struct memory_needed *n, const char *witness, const char *bound);
/* Return the prefix: "up to ", "at least " or "" in text, "<= ", ">= " or "" in a table. */
const char *needed_bound_text(const struct memory_needed *n);
const char *needed_bound_sign(const struct memory_needed *n);
bool needed_is_least(const struct memory_needed *n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the phases of each name took, from the marks alone: little enough to be kept while a run
 * goes on. What they used takes the samples, too: model/phase.h.
 */
#ifndef RUN_PHASE_TIMES_H
#define RUN_PHASE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_TIMED_MARKS 65536
#define MAX_TIMED_NAMES 1024

struct timed_mark {
	uint64_t elapsed_ns;
	uint32_t came; /* its number: of two at the same time the first to come is the first */
	uint32_t name;
};

struct phase_times {
	char **names; /* owned, and each of them */
	size_t nr_names;
	struct timed_mark *marks; /* owned */
	size_t nr, room;
	bool is_partial; /* there were more than fit: nothing is known then */
};

struct longest_phase {
	const char *text; /* in use as long as the times; NULL: before the first mark */
	uint64_t ns;      /* of all phases of that name together */
	uint64_t count;
};

/* Adds a mark; in any order. Without memory the times are partial. */
void phase_times_add(struct phase_times *t, const char *text, size_t length, uint64_t elapsed_ns);
/*
 * The name whose phases took the most of a run of @wall_ns. False: the run has no phases, or not
 * all of them are known.
 */
bool phase_times_longest(struct phase_times *t, uint64_t wall_ns, struct longest_phase *longest);
void phase_times_done(struct phase_times *t);

#endif

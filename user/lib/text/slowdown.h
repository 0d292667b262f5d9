/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What slowed a run down, in one sentence: the same in the summary, pages, pictures and top. A run
 * that was not held up has none.
 */
#ifndef TEXT_SLOWDOWN_H
#define TEXT_SLOWDOWN_H

#include "run/stall_state.h"
#include "run/summary.h"

#include <stdio.h>

enum slowdown_kind {
	SLOWDOWN_NONE,
	SLOWDOWN_STALLED, /* nothing was done for a part of the time */
	SLOWDOWN_QUEUE,   /* its threads waited for a CPU */
	SLOWDOWN_LOCK,    /* for the lock of a file */
	SLOWDOWN_DISK,
};

struct slowdown {
	enum slowdown_kind kind;
	bool is_attached;
	bool is_part;      /* @ns is a part of @wall_ns: up to one thread at a time */
	uint64_t ns;       /* of that kind */
	uint64_t wall_ns;  /* of the run */
	uint64_t cpu_ns;   /* of all threads */
	const char *cause; /* "" if unknown; of the stalls as received, so untrusted */
};

/*
 * Fills @a from the summary of a run that began at @start_epoch_ns, could use @cores_available
 * thousandths of a core (0: unknown) and had @stalls (may be NULL), which it ends and keeps a
 * pointer into.
 */
void slowdown_of_run(struct slowdown *a, const struct summary *s, uint64_t start_epoch_ns,
		     uint64_t cores_available, struct stalls *stalls);
/*
 * Writes the sentence without a full stop, such as "Stood still for 39.5 of 41.9 s: flock waited
 * for a lock held by 2148 sleep"; nothing for SLOWDOWN_NONE.
 */
void slowdown_text(FILE *f, const struct slowdown *a);
/* Writes the same in a few words: "stood still for 39.5 s". */
void slowdown_short_text(FILE *f, const struct slowdown *a);

#endif

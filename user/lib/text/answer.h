/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of a run: how much memory to request for the next one, how much of its cores it used,
 * and in which phase it spent most of its time.
 */
#ifndef TEXT_ANSWER_H
#define TEXT_ANSWER_H

#include "base/json.h"
#include "run/phase.h"
#include "run/summary.h"

#include <jansson.h>
#include <stdio.h>

#define ANSWER_MARGIN_PERCENT 10 /* on top of what the run needed: the next one may need more */

enum request_basis {
	REQUEST_NONE,   /* nothing is known of the memory: nothing below is set */
	REQUEST_LIMIT,  /* the limit at which a process was killed: more than that */
	REQUEST_NEEDED, /* what the run needed, with a margin */
};

struct answer {
	enum request_basis basis;
	struct memory_needed needed; /* of it */
	uint64_t request_bytes;
	bool is_least;       /* it may need more: more than the limit; the run was not whole, or
				what is known of it is a lower bound */
	const char *doubt;   /* why, as in "of a run that failed"; NULL: the last reason */
	bool has_cores;      /* then: */
	uint64_t cores_used; /* thousandths, on average */
	uint64_t cores_available;   /* thousandths that it was allowed to use; 0: not known */
	bool has_phase;             /* then: */
	struct longest_phase phase; /* where it was for the longest time */
	uint64_t wall_ns;
};

/*
 * Fills @a. @meta: of the run, or NULL. @times: of its phases, or NULL; the answer refers to it. Of
 * the processors only those count that the affinity and the quota of the cgroup allow.
 */
void answer_of_run(struct answer *a, const struct summary *s, const json_t *meta,
		   struct phase_times *times);
/* Returns the thousandths of cores that a run with @meta (or NULL) may use; 0 if not known. */
uint64_t answer_cores_available(const json_t *meta);
/* Writes the line of the summary; nothing if nothing is known. */
void answer_text(FILE *f, const struct answer *a);
/* Write the parts of that line: "at least 580 MiB (peak at least 522 MiB + 10 %)", */
void answer_request_text(FILE *f, const struct answer *a);
/* "0.73 of 2 cores", */
void answer_cores_text(FILE *f, const struct answer *a);
/* and "52 % of the time in phase evaluate". */
void answer_phase_text(FILE *f, const struct answer *a);
/* Writes the object "answer". */
void answer_json(struct jsonw *j, const struct answer *a);

#endif

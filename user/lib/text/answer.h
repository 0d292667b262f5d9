/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run says to its user: how much memory to request for the next one, what it made use of,
 * and where its time went.
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
 * @meta: of the run, or NULL. @times: of its phases, or NULL; in use as long as the answer. Of a
 * machine's processors those count that its affinity and the quota of its cgroup leave to the run.
 */
void answer_of_run(struct answer *a, const struct summary *s, const json_t *meta,
		   struct phase_times *times);
/* Thousandths of cores that a run with that @meta (or NULL) may use; 0: not known. */
uint64_t answer_cores_available(const json_t *meta);
/* In a line of the summary; nothing where nothing is known. */
void answer_text(FILE *f, const struct answer *a);
/* The parts of that line: "at least 580 MiB (peak at least 522 MiB + 10 %)", */
void answer_request_text(FILE *f, const struct answer *a);
/* "0.73 of 2 cores", */
void answer_cores_text(FILE *f, const struct answer *a);
/* and "52 % of the time in phase evaluate". */
void answer_phase_text(FILE *f, const struct answer *a);
/* All of it as the object "answer". */
void answer_json(struct jsonw *j, const struct answer *a);

#endif

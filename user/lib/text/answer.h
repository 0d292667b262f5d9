/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of a run: how much memory to request for the next one, how many cores it used, whether
 * it left its GPUs unused, its longest phase, and what slowed it down.
 */
#ifndef TEXT_ANSWER_H
#define TEXT_ANSWER_H

#include "base/json.h"
#include "run/phase.h"
#include "run/stall_state.h"
#include "run/summary.h"

#include <jansson.h>
#include <stdio.h>

/*
 * What slowed a run down, in one sentence: the same in the summary, pages, pictures and top. A run
 * that was not held up has none.
 */

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

/* The whole answer. */

#define ANSWER_MARGIN_PERCENT                                                                      \
	10 /* added to the memory needed, because the next run may need more */

enum request_basis {
	REQUEST_NONE,   /* memory unknown: the request members are unset */
	REQUEST_LIMIT,  /* a process was killed at this limit: request more */
	REQUEST_NEEDED, /* the memory needed, plus a margin */
};

struct answer {
	enum request_basis basis;
	struct memory_needed needed; /* set with REQUEST_NEEDED */
	uint64_t request_bytes;
	bool is_least; /* the next run may need more: a limit was hit, the run was not whole, or its
			  memory is a lower bound */
	const char *doubt; /* such as "of a run that failed"; NULL if only the limit or a lower
			      bound is the reason */
	uint64_t memory_available;  /* of the cgroup's limit or of the machine; 0 if unknown */
	bool memory_is_limited;     /* that is the cgroup's limit */
	bool has_cores;             /* the next two are set */
	uint64_t cores_used;        /* average, in thousandths of a core */
	uint64_t cores_available;   /* thousandths of a core the run could use; 0 if unknown */
	uint64_t gpus_held;         /* the most at one time; 0: none, or their use is unknown */
	uint64_t gpus_used;         /* average, in thousandths of a GPU */
	bool has_phase;             /* the next one is set */
	struct longest_phase phase; /* the phase that took the most time */
	uint64_t wall_ns;
	struct slowdown slowdown;
};

/*
 * Fills @a, which keeps pointers into @times and @stalls. @meta (the meta line of the run), @times
 * (of its phases) and @stalls may be NULL. Available cores are limited by the affinity and the
 * quota of the cgroup.
 */
void answer_of_run(struct answer *a, const struct summary *s, const json_t *meta,
		   struct phase_times *times, struct stalls *stalls);
/* Sets what is not known of a run that goes on. */
void answer_of_running(struct answer *a);
/* Fills @a for a span, without cores and phase. Its end may have no status. */
void answer_of_span(struct answer *a, const struct summary *used);
/* Returns the cores that a run with @meta (may be NULL) may use, in thousandths; 0 if unknown. */
uint64_t answer_cores_available(const json_t *meta);
/* Writes the line of the summary, or nothing if nothing is known. */
void answer_text(FILE *f, const struct answer *a);
/* Writes the request, such as "at least 580 MiB (peak at least 522 MiB + 10 %)". */
void answer_request_text(FILE *f, const struct answer *a);
/* Writes how much of the available memory was needed, as a paragraph, if both are known. */
void answer_memory_markdown(FILE *f, const struct answer *a);
/* Writes the cores, such as "0.73 of 2 cores". */
void answer_cores_text(FILE *f, const struct answer *a);
/* Writes how little the GPUs that the run held were used; nothing if that is a tenth or more. */
void answer_gpus_text(FILE *f, const struct answer *a);
/* Writes the longest phase, such as "52 % of the time in phase evaluate". */
void answer_phase_text(FILE *f, const struct answer *a);
/* Writes what slowed the run down, such as "Stood still for 39.5 of 41.9 s". */
void answer_slowdown_text(FILE *f, const struct answer *a);
typedef void answer_part_fn(FILE *f, const struct answer *a);
/* Returns what @write writes; the caller frees it. NULL without memory. */
char *answer_part_make(answer_part_fn *write, const struct answer *a);
void answer_json(struct jsonw *j, const struct answer *a);

#endif

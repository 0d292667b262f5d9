/* SPDX-License-Identifier: BSD-2-Clause */
/* Usage per phase of a run, from one mark of the command to the next. */
#ifndef RUN_PHASE_H
#define RUN_PHASE_H

#include "run/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PHASES 65536 /* further marks begin no phase */

struct phase {
	char *text;                 /* owned, NUL-terminated; NULL: before the first mark */
	uint64_t start_ns, end_ns;  /* since the run's start */
	uint64_t value[NR_METRICS]; /* counters: used in it; gauges: maximum at its samples */
	struct metric_set have;
	uint64_t samples; /* number of its samples, including those that begin and end it */
	/*
	 * Phases that no sample separates share their values. The first has them and the number of
	 * phases, @nr_shared > 1; @shared_with of the others is its index.
	 */
	size_t nr_shared;
	bool is_shared; /* not the first of a shared group */
	size_t shared_with;
	/* valid until phases_finish(): */
	bool is_measured;   /* a sample was taken since it began */
	size_t measured_by; /* number of the first such sample */
	uint64_t late_ns;   /* time from the mark to that sample */
};

struct phases {
	struct phase *all; /* owned; in order of time */
	size_t nr, room;
	uint64_t left_out; /* marks beyond MAX_PHASES or dropped for lack of memory */
	/* state while samples are added: */
	bool is_sorted;
	size_t at; /* index of the current phase */
	size_t nr_samples;
	uint64_t counter[NR_METRICS]; /* counters at the sample that began the phase */
	struct metric_set counted;    /* counters that this sample had */
};

/*
 * Adds a mark: phase @text, of @length bytes, begins at @elapsed_ns. All marks come before the
 * first sample, in any order. Returns 0, or -ENOMEM if it was left out and counted.
 */
int phases_add_mark(struct phases *p, const char *text, size_t length, uint64_t elapsed_ns);
/*
 * Adds the next sample, in order of time. A phase ends with the first sample at or after the next
 * mark: usage between that mark and the sample is attributed to the phase that ends.
 */
void phases_add_sample(struct phases *p, const struct sample *s);
/*
 * Ends the run, @elapsed_ns after its start, and completes all[0 .. nr - 1]. Phases share their
 * values if they begin before the same sample, or if their first samples came so long after the
 * marks that a substantial part may belong to the wrong phase.
 */
void phases_finish(struct phases *p, uint64_t elapsed_ns);
void phases_done(struct phases *p);

/* Usage of all phases of one name together. */

struct phase_sum {
	const char *text;           /* valid as long as the phases; NULL: before the first mark */
	size_t nr;                  /* number of phases of that name */
	size_t nr_shared;           /* phases not separable from those of other names */
	uint64_t ns;                /* duration of all nr phases, in ns */
	uint64_t value[NR_METRICS]; /* of separable phases: sums, gauges: maxima */
	struct metric_set have;
};

struct phase_sums {
	struct phase_sum *all; /* owned; in order of the first phase of each name */
	size_t nr;
	struct phase_sum shared; /* total of all nr_shared phases; nr is 0 if there are none */
	bool has_equal;          /* a name has several phases */
};

/* Returns 0 or -ENOMEM. The caller calls phase_sums_done() in either case. */
int phase_sums_make(struct phase_sums *s, const struct phases *p);
void phase_sums_done(struct phase_sums *s);

/*
 * Duration of the phases of each name, from the marks alone: small enough to be kept while a run
 * goes on. Usage per phase needs the samples too, see struct phases.
 */

#define MAX_TIMED_MARKS 65536
#define MAX_TIMED_NAMES 1024

struct timed_mark {
	uint64_t elapsed_ns;
	uint32_t came; /* order of arrival, which decides between marks of equal time */
	uint32_t name;
};

struct phase_times {
	char **names; /* owned, array and texts */
	size_t nr_names;
	struct timed_mark *marks; /* owned */
	size_t nr, room;
	bool is_partial; /* marks did not fit: nothing is known then */
};

struct longest_phase {
	const char *text; /* valid as long as the times; NULL: before the first mark */
	uint64_t ns;      /* total duration of all phases of that name */
	uint64_t count;
};

/* Adds a mark; marks may come in any order. If memory runs out the times become partial. */
void phase_times_add(struct phase_times *t, const char *text, size_t length, uint64_t elapsed_ns);
/*
 * Finds the name with the longest phases in a run of @wall_ns. Returns false if the run has no
 * phases, or some are unknown.
 */
bool phase_times_longest(struct phase_times *t, uint64_t wall_ns, struct longest_phase *longest);
void phase_times_done(struct phase_times *t);

#endif

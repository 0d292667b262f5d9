/* SPDX-License-Identifier: BSD-2-Clause */
/* What each phase of a run used, from one mark of the command to the next. */
#ifndef RUN_PHASE_H
#define RUN_PHASE_H

#include "run/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PHASES 65536 /* further marks begin no phase */

struct phase {
	char *text;                 /* owned, ended by NUL; NULL: before the first mark */
	uint64_t start_ns, end_ns;  /* since the run's start */
	uint64_t value[NR_METRICS]; /* counters: used in it; gauges: the largest at its samples */
	struct metric_set have;
	uint64_t samples; /* in it, including those that begin and end it */
	/*
	 * Phases that no sample separates share their values. The first has them, and
	 * @nr_shared > 1, the number of phases; the others have none, and @shared_with, its index.
	 */
	size_t nr_shared;
	bool is_shared; /* one of those others */
	size_t shared_with;
	/* until phases_finish() */
	bool is_measured;   /* there is a sample since it began */
	size_t measured_by; /* number of the first one */
	uint64_t late_ns;   /* time from the mark to that sample */
};

struct phases {
	struct phase *all; /* owned; in the order of time */
	size_t nr, room;
	uint64_t left_out; /* marks beyond MAX_PHASES, or without memory for them */
	/* while samples are added */
	bool is_sorted;
	size_t at; /* the current phase */
	size_t nr_samples;
	uint64_t counter[NR_METRICS]; /* at the sample that began it */
	struct metric_set counted;    /* those that this sample had */
};

/*
 * Adds a mark: at @elapsed_ns the phase @text, of @length bytes, begins. All marks are added first,
 * in any order; then the samples. -ENOMEM: it is left out, and counted.
 */
int phases_add_mark(struct phases *p, const char *text, size_t length, uint64_t elapsed_ns);
/*
 * Adds the next sample, in the order of time. A phase ends with the first sample that is not before
 * the next mark: what is used between the two counts for the phase that ends.
 */
void phases_add_sample(struct phases *p, const struct sample *s);
/*
 * The run has ended, @elapsed_ns after its start: all[0 .. nr - 1] are the phases. Phases share
 * their values if they begin before the same sample; or if their first samples came so long after
 * the marks that more than a small part may count for the wrong phase.
 */
void phases_finish(struct phases *p, uint64_t elapsed_ns);
void phases_done(struct phases *p);

/* What the phases of each name used together. */

struct phase_sum {
	const char *text; /* in use as long as the phases; NULL: before the first mark */
	size_t nr;        /* phases of that name */
	size_t nr_shared; /* of these, those that no sample tells from phases of other names */
	uint64_t ns;      /* of all of them */
	uint64_t value[NR_METRICS]; /* of the others: counters summed, of gauges the largest */
	struct metric_set have;
};

struct phase_sums {
	struct phase_sum *all; /* owned; in the order in which their first phases begin */
	size_t nr;
	struct phase_sum shared; /* those with nr_shared, together; nr 0: there are none */
	bool has_equal;          /* a name has several phases */
};

/* To be given to phase_sums_done(), also after an error. -ENOMEM. */
int phase_sums_make(struct phase_sums *s, const struct phases *p);
void phase_sums_done(struct phase_sums *s);

/*
 * How long the phases of each name took, from the marks alone: little enough to be kept while a run
 * goes on. What they used takes the samples, too: model/phase.h.
 */

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

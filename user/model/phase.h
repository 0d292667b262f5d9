/* SPDX-License-Identifier: BSD-2-Clause */
/* What each phase of a run used: from one mark of the command's to the next. */
#ifndef MODEL_PHASE_H
#define MODEL_PHASE_H

#include "model/sample.h"

#define MAX_PHASES 65536 /* marks beyond it begin no phase of their own */

struct phase {
	char *text;                /* owned, ended by NUL; NULL: what comes before the first mark */
	uint64_t start_ns, end_ns; /* since the run's start */
	uint64_t value[NR_METRICS]; /* counters: used in it; gauges: the largest at its samples */
	struct metric_set have;
	uint64_t samples; /* in it, those that begin and end it included */
	/*
	 * Phases that no sample separates share their values. The first has them, and
	 * @nr_shared > 1, the number of phases; the others have none, and @shared_with, its index.
	 */
	size_t nr_shared;
	bool is_shared; /* one of those others */
	size_t shared_with;
	/* until phases_finish() */
	bool is_measured;   /* there is a sample since it began; */
	size_t measured_by; /* the first of them: its number, */
	uint64_t late_ns;   /* and how long after the mark that was */
};

struct phases {
	struct phase *all; /* owned; in the order of time */
	size_t nr, room;
	uint64_t left_out; /* marks beyond MAX_PHASES, or those that memory did not suffice for */
	/* while samples are added */
	bool is_sorted;
	size_t at; /* the phase that lasts */
	size_t nr_samples;
	uint64_t counter[NR_METRICS]; /* when it began */
	struct metric_set counted;    /* then */
};

/*
 * A mark: from @elapsed_ns on it is the phase @text, of @length bytes. All marks come first, in any
 * order; then the samples. -ENOMEM: it is left out, and counted.
 */
int phases_add_mark(struct phases *p, const char *text, size_t length, uint64_t elapsed_ns);
/*
 * The next sample, in the order of time. A phase ends with the first sample that is not before the
 * next mark: what is used between the two counts for the phase that ends.
 */
void phases_add_sample(struct phases *p, const struct sample *s);
/*
 * The run has ended, @elapsed_ns after its start: all[0 .. nr - 1] are the phases. Those share
 * their values that begin before the same sample; and those whose first samples came so late after
 * the marks that what was used meanwhile, and counts for the phase before, is more than a small
 * part.
 */
void phases_finish(struct phases *p, uint64_t elapsed_ns);
void phases_done(struct phases *p);

#endif

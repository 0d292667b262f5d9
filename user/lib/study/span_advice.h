/* SPDX-License-Identifier: BSD-2-Clause */
/* Advises what to request for a part of a run, such as a job of a workflow, from its spans. */
#ifndef STUDY_SPAN_ADVICE_H
#define STUDY_SPAN_ADVICE_H

#include "run/span.h"
#include "study/advise_text.h"
#include "text/answer.h"

/* The spans of one name, over all runs. */
struct span_group {
	char *name;                   /* owned */
	struct stored_runs spans;     /* owned; each as if it were a run */
	struct run_request *requests; /* owned; one for each */
	size_t requests_room;
	size_t nr_runs, last_run; /* runs with such a span; index of the last one */
	struct answer answer;     /* of the span that needed most memory */
};

struct span_groups {
	struct span_group *all; /* owned */
	size_t nr, room;
	uint64_t left_out; /* spans beyond the limits */
};

/* Adds a span of run number @run; runs come one after the other. Returns 0 or -ENOMEM. */
int span_groups_add(struct span_groups *groups, const struct span *s, size_t run);
/* Sorts the groups by name. */
void span_groups_sort(struct span_groups *groups);
void span_groups_done(struct span_groups *groups);

/*
 * Makes advice from the spans of a group: its memory is that of the summary of a run, for the span
 * that needed most. Errors as advice_make().
 */
int span_group_advise(const struct span_group *g, const struct node *node, struct advice *a);
/* Prints the advice for people, or the directives for @to below a comment. */
void span_advice_print(FILE *f, const struct span_group *g, const struct advice *a,
		       enum advice_for to);
/* Writes the advice as an element of a list. */
void span_advice_json(struct jsonw *j, const struct span_group *g, const struct advice *a);

#endif

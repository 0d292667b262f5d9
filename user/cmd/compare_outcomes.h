/* SPDX-License-Identifier: BSD-2-Clause */
/* The expressions of --fail-if: evaluated for each group, or for each step of it. */
#ifndef CMD_COMPARE_OUTCOMES_H
#define CMD_COMPARE_OUTCOMES_H

#include "cmd/compare.h"
#include "compare/document.h"

#include <stdio.h>

struct outcomes {
	struct expression expressions[MAX_FAIL_IF];
	struct outcome *list; /* owned */
	size_t nr;
	bool has_failed; /* one of them holds */
};

/* -EINVAL after one line to the user. */
int outcomes_parse(struct outcomes *x, const struct compare_options *o);
/*
 * Of all groups but the first; with @steps those of these and not of the runs: a step that a side
 * lacks decides nothing. A negative errno after one line to the user: an expression cannot be
 * decided.
 */
int outcomes_evaluate(struct outcomes *x, const struct compare_options *o,
		      const struct comparison *c, const struct steps *steps);
/* A line for each that holds, @before in front. */
void outcomes_print_failed(FILE *f, const char *before, const struct outcomes *x,
			   const struct comparison *c);
void outcomes_done(struct outcomes *x);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the answer of `bpfmon like`, as text and as JSON. */
#ifndef STUDY_LIKE_TEXT_H
#define STUDY_LIKE_TEXT_H

#include "store/query.h"
#include "study/like_answer.h"

#include <stdio.h>

struct like_shown {
	const char *label; /* of the run */
	const struct signature *signature;
	const struct known_runs *known; /* of known runs; each refers to one of @runs */
	const struct stored_runs *runs;
	const char *const *prefixes; /* of run numbers, for each store */
	const struct like_scale *scale;
	const struct like_answer *answer;
};

void like_text(FILE *f, const struct like_shown *s, size_t width);
int like_json(FILE *f, const struct like_shown *s);

#endif

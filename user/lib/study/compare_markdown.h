/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison in Markdown, for a pull request: what differs first, the rest folded. */
#ifndef STUDY_COMPARE_MARKDOWN_H
#define STUDY_COMPARE_MARKDOWN_H

#include "study/step.h"

#include <stdio.h>

/* @steps: NULL, or tables of these for @keys (@nr of them) take the place of all values. @diff
 * comes from facts_diff(). */
void comparison_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			 const size_t *keys, size_t nr, const json_t *diff);

#endif

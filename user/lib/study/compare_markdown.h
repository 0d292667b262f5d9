/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison in Markdown, for a pull request: differences first, the rest folded. */
#ifndef STUDY_COMPARE_MARKDOWN_H
#define STUDY_COMPARE_MARKDOWN_H

#include "study/step.h"

#include <stdio.h>

/* @steps: if not NULL, their tables for the @nr @keys replace that of all values. @diff: from
 * facts_diff(). */
void comparison_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			 const size_t *keys, size_t nr, const json_t *diff);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a comparison as Markdown, for pull requests: differences first, the rest folded. */
#ifndef STUDY_COMPARE_MARKDOWN_H
#define STUDY_COMPARE_MARKDOWN_H

#include "study/step.h"

#include <stdio.h>

/*
 * If @steps is not NULL, its tables for the @nr @keys replace the table of all values. @diff is
 * that of facts_diff().
 */
void comparison_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			 const size_t *keys, size_t nr, const json_t *diff);

#endif

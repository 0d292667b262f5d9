/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as one JSON document. */
#ifndef STUDY_COMPARE_DOCUMENT_H
#define STUDY_COMPARE_DOCUMENT_H

#include "base/buffer.h"
#include "base/json.h"
#include "study/expression.h"
#include "study/step.h"

/* What became of an expression, for a group. */
struct outcome {
	const struct expression *expression;
	size_t group;
	bool holds;
	const struct step *step; /* NULL: of the runs themselves */
};

/* One object and the line's end; docs/COMPARE.md describes it. @steps: of @runs, or NULL. */
void comparison_document(struct jsonw *j, const struct comparison *c, const struct steps *steps,
			 const struct sides *runs, const json_t *diff,
			 const struct outcome *outcomes, size_t nr);
/*
 * The first @most steps with the values that a terminal has of them, as one object for a page:
 * "kind", "kinds", "keys", "left_out" and "list", whose "values" are as in the document.
 */
void comparison_steps_brief(struct jsonw *j, const struct steps *steps, size_t most);

/* A comparison as CSV: a row for each value of each group. */

/* @steps: NULL, or their rows follow those of the runs; a column has their names then. */
void comparison_csv(struct buffer *t, const struct comparison *c, const struct steps *steps);

#endif

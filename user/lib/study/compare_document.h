/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a comparison as JSON and as CSV. */
#ifndef STUDY_COMPARE_DOCUMENT_H
#define STUDY_COMPARE_DOCUMENT_H

#include "base/buffer.h"
#include "base/json.h"
#include "study/expression.h"
#include "study/step.h"

/* The result of an expression for a group. */
struct outcome {
	const struct expression *expression;
	size_t group;
	struct judgement judgement;
	const struct step *step; /* NULL: of whole runs */
};

/*
 * Writes one object and a newline; docs/STUDY.md describes it. @steps are those of @runs, or
 * NULL.
 */
void comparison_document(struct jsonw *j, const struct comparison *c, const struct steps *steps,
			 const struct sides *runs, const json_t *diff,
			 const struct outcome *outcomes, size_t nr);
/*
 * Writes the first @most steps, with the values of the terminal's tables, as an object for the
 * report page: "kind", "kinds", "keys", "left_out" and "list", whose "values" are as in the
 * document.
 */
void comparison_steps_brief(struct jsonw *j, const struct steps *steps, size_t most);

/*
 * Writes a row for each value of each group, then those of @steps, if not NULL, with their names.
 */
void comparison_csv(struct buffer *t, const struct comparison *c, const struct steps *steps);

#endif

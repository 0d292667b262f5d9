/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as one JSON document. */
#ifndef COMPARE_DOCUMENT_H
#define COMPARE_DOCUMENT_H

#include "base/json.h"
#include "compare/expression.h"

/* What became of an expression, for a group. */
struct outcome {
	const struct expression *expression;
	size_t group;
	bool holds;
};

/* One object and the line's end; docs/COMPARE.md describes it. */
void comparison_document(struct jsonw *j, const struct comparison *c, const json_t *diff,
			 const struct outcome *outcomes, size_t nr);

#endif

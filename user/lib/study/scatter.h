/* SPDX-License-Identifier: BSD-2-Clause */
/* Two metrics of many runs against each other, in a terminal and as JSON. */
#ifndef STUDY_SCATTER_H
#define STUDY_SCATTER_H

#include "base/json.h"
#include "study/values.h"

#include <stdio.h>

/* Draws the first of the metrics to the right and the second upwards, in lines of @width columns;
 * @is_utf8: with shades of blocks. -ENOMEM. */
int scatter_draw(FILE *f, const struct many_values *v, size_t width, bool is_utf8);
/* One object, in a line of its own; docs/MANY.md describes it. -ENOMEM, of @j too. */
int scatter_json(struct jsonw *j, const struct many_values *v);

#endif

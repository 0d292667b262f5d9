/* SPDX-License-Identifier: BSD-2-Clause */
/* What the makers of steps have in common. */
#ifndef STUDY_STEP_PARTS_H
#define STUDY_STEP_PARTS_H

#include "study/compare_parts.h"
#include "study/step.h"

#define STEP_BETWEEN '\x1f' /* names in a key; another character in the name that is shown */

/* Makes room for the values of @nr_sides runs in each step. -ENOMEM. */
int steps_make_room(struct steps *all, size_t nr_sides);
/* *@number: that of the step with @key; SIZE_MAX: there are too many. Takes @path over, also after
 * an error; NULL is -ENOMEM. */
int step_find(struct steps *all, const char *key, json_t *path, size_t *number);
int steps_add_spans(struct steps *all, size_t run, struct source *src);

#endif

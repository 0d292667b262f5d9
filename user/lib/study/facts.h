/* SPDX-License-Identifier: BSD-2-Clause */
/* The meta line of a run, made flat so that it can be compared. */
#ifndef STUDY_FACTS_H
#define STUDY_FACTS_H

#include <jansson.h>

/*
 * Adds all of the object @from to the flat object @to, names joined by points, values as texts. A
 * list is one text, its elements apart by blanks. -ENOMEM.
 */
int facts_add(json_t *to, const json_t *from);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What changed between the groups: what they say of themselves, where it is not the same. */
#ifndef STUDY_DIFF_H
#define STUDY_DIFF_H

#include "study/compare.h"

/*
 * An array of {"key":..., "values":[[...], ...]}: for each group the different texts that its sides
 * have there, none where none has it. What another tool does not record is no difference. To be
 * given to json_decref(); NULL without memory.
 */
json_t *facts_diff(const struct groups *g);

#endif

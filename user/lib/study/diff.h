/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences between the meta lines of groups. */
#ifndef STUDY_DIFF_H
#define STUDY_DIFF_H

#include "study/compare.h"

/*
 * Returns an array of {"key":..., "values":[[...], ...]}, to be freed by json_decref(): the
 * distinct texts of the sides of each group. What another tool does not record is no difference.
 * NULL without memory.
 */
json_t *facts_diff(const struct groups *g);

#endif

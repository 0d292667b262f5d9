/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds differences between the meta lines of groups. */
#ifndef STUDY_DIFF_H
#define STUDY_DIFF_H

#include "study/compare.h"

/*
 * Returns an array of {"key":..., "values":[[...], ...]} with the distinct texts of each group;
 * NULL without memory. The caller frees it with json_decref(). What another tool does not record is
 * not a difference.
 */
json_t *facts_diff(const struct groups *g);

#endif

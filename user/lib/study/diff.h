/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds differences between the meta lines of groups. */
#ifndef STUDY_DIFF_H
#define STUDY_DIFF_H

#include "study/compare.h"

/*
 * Returns an array of {"key":..., "values":[[...], ...]} with the distinct texts of each group;
 * NULL without memory. The caller frees it with json_decref(). What another tool, or a
 * shortened meta line, does not record is not a difference.
 */
json_t *facts_diff(const struct groups *g);
/* Returns false for a row of facts_diff() with nothing but the titles of the groups. */
bool diff_row_is_news(const struct groups *g, const json_t *row);
/*
 * Writes a fact for people, and returns @out or @text: bytes and seconds with their unit, a moment
 * as a date, a short revision.
 */
const char *fact_format(char *out, size_t room, const char *key, const char *text);
/* Returns whether any row is news. */
bool diff_has_news(const struct groups *g, const json_t *diff);

#endif

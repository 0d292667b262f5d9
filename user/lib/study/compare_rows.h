/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which values of a comparison are worth a row, and in which order: what changed, the largest
 * change first. All that show a comparison take their rows from here.
 */
#ifndef STUDY_COMPARE_ROWS_H
#define STUDY_COMPARE_ROWS_H

#include "study/compare.h"

#define LEAST_CHANGE 0.01 /* of one run each: less is not called a change */

enum row_state {
	ROW_ABSENT,    /* no side has the value */
	ROW_ONE_SIDED, /* one has it */
	ROW_EQUAL,
	ROW_SMALL,  /* less than LEAST_CHANGE, where there is no test of chance */
	ROW_NOISE,  /* may be noise */
	ROW_CHANGED /* more than noise; or where that cannot be told, LEAST_CHANGE or more */
};

/* The values that come first, changed or not. */
enum headline { HEAD_WALL, HEAD_CPU, HEAD_MEMORY, NR_HEADLINES };

/* Which rows are shown, besides those that always are. */
struct row_choice {
	bool is_all;
	const size_t *wanted; /* keys; not owned */
	size_t nr_wanted;
};

struct comparison_rows {
	size_t keys[NR_KEYS]; /* those to show, in their order */
	size_t nr;
	size_t changed[NR_KEYS]; /* those of ROW_CHANGED, the largest change first */
	size_t nr_changed;
	size_t left_out[ROW_CHANGED + 1]; /* values that are not shown, by their state */
};

enum row_state row_state(const struct comparison *c, size_t group, size_t key);
/*
 * The key of a headline: of the peaks of memory, which are several values of one thing, that which
 * both sides know best. False: no side has one.
 */
bool headline_key(const struct comparison *c, size_t group, enum headline h, size_t *key);
/* The rows of @group against the first. @choice: NULL is none. */
void comparison_choose_rows(struct comparison_rows *r, const struct comparison *c, size_t group,
			    const struct row_choice *choice);

#endif

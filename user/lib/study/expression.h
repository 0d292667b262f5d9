/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions under which a comparison fails: KEY OP VALUE.
 *
 *   rss_peak_bytes > +10%      relative difference to the baseline
 *   wall_seconds > +500ms      absolute difference to it
 *   rss_peak_bytes > 2GiB      the value itself, or its upper bound if it is unknown
 *
 * OP is > < >= <=. Units are those of run/limit.h; without one the number is in the unit of the
 * key. Groups are compared by their medians.
 */
#ifndef STUDY_EXPRESSION_H
#define STUDY_EXPRESSION_H

#include "study/compare.h"

#include <stdio.h>

enum expression_kind { EXPRESSION_VALUE, EXPRESSION_DIFFERENCE, EXPRESSION_RELATIVE };
enum expression_op { OP_GREATER, OP_LESS, OP_GREATER_EQUAL, OP_LESS_EQUAL };

struct expression {
	const char *text; /* not owned */
	size_t key;
	enum expression_op op;
	enum expression_kind kind;
	double amount;       /* percent, or in the unit of the key */
	const char *written; /* the amount as in @text */
};

/* Parses an expression. Returns 0, or -EINVAL and the reason in @why, in one line. */
int expression_parse(struct expression *e, const char *text, char *why, size_t room);
/*
 * Sets *@holds for @group. With @significant, differences that may be noise do not count. Returns
 * 0, -ENOENT if a side lacks the key, or -ERANGE if there are too few runs to tell noise.
 */
int expression_holds(const struct expression *e, const struct comparison *c, size_t group,
		     bool significant, bool *holds);
/* Writes a line without newline that says that it holds for @group. */
void expression_write(FILE *f, const struct expression *e, const struct comparison *c,
		      size_t group);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions under which a comparison fails: KEY OP VALUE.
 *
 *   rss_peak_bytes > +10%      relative difference to the baseline
 *   wall_seconds > +500ms      absolute difference to it
 *   rss_peak_bytes > 2GiB      the value itself
 *
 * OP is > < >= <=. Units are those of model/suffix.h; without
 * one the number is in the unit of the key. Of groups it is the medians that are meant.
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
	const char *written; /* the amount as it is in @text */
};

/* -EINVAL: @why has one line on what is wrong with it. */
int expression_parse(struct expression *e, const char *text, char *why, size_t room);
/*
 * Whether it holds for @group. With @significant a difference that may be noise does not count.
 * -ENOENT: a side that is needed lacks the key; -ERANGE: there are too few runs to say what is
 * noise.
 */
int expression_holds(const struct expression *e, const struct comparison *c, size_t group,
		     bool significant, bool *holds);
/* Writes that it holds for @group, in one line without its end. */
void expression_write(FILE *f, const struct expression *e, const struct comparison *c,
		      size_t group);

#endif

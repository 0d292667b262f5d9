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
enum noise {
	NOISE_NONE,     /* the difference is more than noise, or there is no difference to test */
	NOISE_POSSIBLE, /* it may be noise */
	NOISE_UNKNOWN   /* too few runs to tell */
};

struct judgement {
	bool is_beyond; /* the expression is true of the medians */
	bool holds;     /* and that is not what may be noise */
	enum noise noise;
	bool is_single;     /* one run against several */
	size_t runs_needed; /* of each side, or earlier ones, for a verdict; 0: unknown or none */
};

/*
 * Judges the expression for @group. A difference that may be noise does not hold. Where there are
 * too few runs to tell, it holds without a test, or, with @is_strict, -ERANGE is returned. Returns
 * 0, or -ENOENT if a side lacks the key.
 */
int expression_judge(const struct expression *e, const struct comparison *c, size_t group,
		     bool is_strict, struct judgement *j);
/* Writes "120 MiB against 100 MiB, +20.0 %". */
void expression_write_measured(FILE *f, const struct expression *e, const struct comparison *c,
			       size_t group);
/* Writes " (too few runs to tell; 4 runs of each side are needed)" and the like, if there is
 * anything. */
void judgement_write_noise(FILE *f, const struct judgement *j, const struct expression *e,
			   const struct comparison *c, size_t group);
/* Writes a line without newline with key, measured values, expression and noise. */
void expression_write(FILE *f, const struct expression *e, const struct judgement *j,
		      const struct comparison *c, size_t group);

#endif

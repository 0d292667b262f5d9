/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares groups of runs with the first of them, value by value. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "study/side.h"
#include "study/stats.h"

/* Sides that are taken as repetitions of the same. */
struct group {
	const char *name;          /* the side's, or the tag's value; not owned */
	const struct side **sides; /* owned, without the sides */
	size_t nr;
};

struct groups {
	struct group *list; /* owned; the first is the baseline */
	size_t nr;
	const char *by;    /* the tag; NULL: each side is a group */
	size_t most_sides; /* of a group */
};

/* Makes each side a group of its own. -ENOMEM. */
int groups_each(struct groups *g, const struct sides *all);
/*
 * Groups sides by the value of the tag @by, in the order of first appearance. -ENOMEM; -ENOENT: the
 * side *@without has no such tag.
 */
int groups_by_tag(struct groups *g, const struct sides *all, const char *by,
		  const struct side **without);
/*
 * Sorts the groups by name, as numbers if all are numbers; the first group stays first, unless
 * @with_first and all are numbers.
 */
void groups_sort(struct groups *g, bool with_first);
/* Moves the group called @name to the front. -ENOENT. */
int groups_baseline(struct groups *g, const char *name);
/* Writes the letter of a group, or its number after 26 groups, and returns @out. */
char *group_label(char out[24], size_t group);
void groups_done(struct groups *g);

#define ALPHA 0.05 /* a smaller p is more than noise */

/* The distribution of the values of one key in a group. */
struct spread {
	size_t nr; /* sides that have the key; 0: nothing below is set */
	double median, q1, q3, least, most;
};

enum verdict {
	VERDICT_NONE,     /* one value each, or none: no test */
	VERDICT_EQUAL,    /* all values are the same */
	VERDICT_TOO_FEW,  /* with so few runs no difference can be told from noise */
	VERDICT_NO_SIGN,  /* may be noise */
	VERDICT_DIFFERENT /* more than noise */
};

/* A group against the first, for one key. */
struct against {
	bool has_both;     /* otherwise nothing below is set */
	double difference; /* of the medians */
	double relative;   /* to the first; INFINITY if only that is 0 */
	enum verdict verdict;
	struct rank_test test; /* unless the verdict is VERDICT_NONE */
	double p_corrected;    /* Holm, over the groups */
};

struct comparison {
	const struct groups *groups; /* not owned */
	struct spread *spreads;      /* owned: [group][key] */
	struct against *againsts;    /* owned: [group][key]; unused of the first group */
};

/* Compares the groups @g, at least one, which must live as long. -ENOMEM. */
int groups_compare(struct comparison *c, const struct groups *g);
void comparison_done(struct comparison *c);

static inline const struct spread *spread_of(const struct comparison *c, size_t group, size_t key)
{
	return &c->spreads[group * NR_KEYS + key];
}

static inline const struct against *against_of(const struct comparison *c, size_t group, size_t key)
{
	return &c->againsts[group * NR_KEYS + key];
}

/* Returns whether any group has the key. */
bool comparison_has(const struct comparison *c, size_t key);
/* Returns "more than noise" and so on; "" for VERDICT_NONE. */
const char *verdict_name(enum verdict v);

/* Returns whether a group has more than one run, so that there are medians. */
static inline bool comparison_has_several(const struct comparison *c)
{
	return c->groups->most_sides > 1;
}

/*
 * The rows of a comparison: the values that changed, the largest change first. All outputs take
 * their rows from here.
 */

#define LEAST_CHANGE 0.01 /* with one run each, a smaller relative change is ignored */

enum row_state {
	ROW_ABSENT,    /* no side has the value */
	ROW_ONE_SIDED, /* only one has it */
	ROW_EQUAL,
	ROW_SMALL,  /* less than LEAST_CHANGE, without a test */
	ROW_NOISE,  /* may be noise */
	ROW_CHANGED /* more than noise; without a test, LEAST_CHANGE or more */
};

/* The values that are always shown, and first. */
enum headline { HEAD_WALL, HEAD_CPU, HEAD_MEMORY, NR_HEADLINES };

/* The rows to show, besides headlines and changes. */
struct row_choice {
	bool is_all;
	const size_t *wanted; /* keys; not owned */
	size_t nr_wanted;
};

struct comparison_rows {
	size_t keys[NR_KEYS]; /* to show, in order */
	size_t nr;
	size_t changed[NR_KEYS]; /* those of ROW_CHANGED, the largest change first */
	size_t nr_changed;
	size_t left_out[ROW_CHANGED + 1]; /* number of values not shown, by state */
};

enum row_state row_state(const struct comparison *c, size_t group, size_t key);
/*
 * Returns the key of a headline; of the several peaks of memory, the best that both sides have.
 * False if no side has one.
 */
bool headline_key(const struct comparison *c, size_t group, enum headline h, size_t *key);
/* Chooses the rows of @group against the first. @choice may be NULL. */
void comparison_choose_rows(struct comparison_rows *r, const struct comparison *c, size_t group,
			    const struct row_choice *choice);

#endif

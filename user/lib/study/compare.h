/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of runs against the first of them, value by value. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "study/side.h"
#include "study/stats.h"

/* Sides put together: those that differ in nothing but chance. */

struct group {
	const char *name;          /* the side's, or the tag's value; not owned */
	const struct side **sides; /* owned; not what they point to */
	size_t nr;
};

struct groups {
	struct group *list; /* owned; the first is the baseline */
	size_t nr;
	const char *by;    /* the tag; NULL: each side is a group */
	size_t most_sides; /* of a group */
};

/* Each side is a group of its own. -ENOMEM. */
int groups_each(struct groups *g, const struct sides *all);
/*
 * Sides with the same value of the tag @by are a group, in the order in which the values first
 * come. -ENOMEM; -ENOENT: *@without has no such tag.
 */
int groups_by_tag(struct groups *g, const struct sides *all, const char *by,
		  const struct side **without);
/*
 * Sorts the groups by their names, as numbers if all are: those from the second on, or
 * @with_first, where all are numbers, the first as well, which may be another one then.
 */
void groups_sort(struct groups *g, bool with_first);
/* Puts the group called @name first. -ENOENT. */
int groups_baseline(struct groups *g, const char *name);
/* Writes the letter of a group, or its number after 26 groups, and returns @out. */
char *group_label(char out[24], size_t group);
void groups_done(struct groups *g);

#define ALPHA 0.05 /* less than that is not chance */

/* How the values of one key spread in a group. */
struct spread {
	size_t nr; /* sides that have the key; 0: nothing below is set */
	double median, q1, q3, least, most;
};

enum verdict {
	VERDICT_NONE,     /* one value each, or none: no test of chance */
	VERDICT_EQUAL,    /* all values are the same */
	VERDICT_TOO_FEW,  /* no outcome with so few runs could be distinguished from chance */
	VERDICT_NO_SIGN,  /* may be chance */
	VERDICT_DIFFERENT /* more than noise */
};

/* A group against the first, by one key. */
struct against {
	bool has_both;     /* else nothing below is set */
	double difference; /* of the medians */
	double relative;   /* to the first's; INFINITY where that is 0 and this is not */
	enum verdict verdict;
	struct rank_test test; /* unless the verdict is none */
	double p_corrected;    /* Holm, over the groups */
};

struct comparison {
	const struct groups *groups; /* not owned */
	struct spread *spreads;      /* owned: [group][key] */
	struct against *againsts;    /* owned: [group][key]; unused of the first group */
};

/* @g must have groups, and live as long. -ENOMEM. */
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

/* Whether a group has the key. */
bool comparison_has(const struct comparison *c, size_t key);
/* "more than noise" and so on; "" for none. */
const char *verdict_name(enum verdict v);

/* Whether a group has more than one run, so that there are medians. */
static inline bool comparison_has_several(const struct comparison *c)
{
	return c->groups->most_sides > 1;
}

/*
 * Which values of a comparison are worth a row, and in which order: what changed, the largest
 * change first. All that show a comparison take their rows from here.
 */

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

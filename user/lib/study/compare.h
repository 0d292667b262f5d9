/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares groups of runs with the first group, value by value. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "study/side.h"
#include "study/stats.h"

#define TITLE_BYTES 80

/* Sides that count as repetitions. */
struct group {
	char title[TITLE_BYTES];   /* short and inert, for people; differs between groups */
	const char *name;          /* name of the side, or value of the tag; not owned */
	const struct side **sides; /* array owned, elements not */
	size_t nr;
};

struct groups {
	struct group *list; /* owned; the first is the baseline */
	size_t nr;
	const char *by;    /* the tag; NULL if each side is a group */
	size_t most_sides; /* in one group */
	bool is_history;   /* the last run against all before it */
};

/* Makes a group of each side. Returns 0 or -ENOMEM. */
int groups_each(struct groups *g, const struct sides *all);
/* Makes a group of all sides but the last, and one of the last. Returns 0 or -ENOMEM. */
int groups_of_history(struct groups *g, const struct sides *all);
/*
 * Groups sides by the value of the tag @by, in the order of first appearance. Returns 0, -ENOENT if
 * the side *@without lacks the tag, or -ENOMEM.
 */
int groups_by_tag(struct groups *g, const struct sides *all, const char *by,
		  const struct side **without);
/*
 * Sorts the groups by name, as numbers if all are. The first stays first, unless @with_first is set
 * and all are numbers.
 */
void groups_sort(struct groups *g, bool with_first);
/* Moves the group @name to the front. Returns 0 or -ENOENT. */
int groups_baseline(struct groups *g, const char *name);
/*
 * Sets the titles: of groups by a tag its value; of others run names, tags, files, revisions or
 * programs, whichever differ first, else run numbers. The functions above do so.
 */
void groups_set_titles(struct groups *g);
/* Returns "run 41" for a run of a store, in @room, else the word or path of the user. */
const char *side_word(const struct side *s, char *room, size_t bytes);
void groups_done(struct groups *g);

#define ALPHA 0.05 /* a smaller p is more than noise */

/* The distribution of a key's values in a group. */
struct spread {
	size_t nr; /* sides with the key; if 0, nothing below is set */
	double median, q1, q3, least, most;
};

enum verdict {
	VERDICT_NONE,     /* no test: at most one value each */
	VERDICT_EQUAL,    /* all values are equal */
	VERDICT_TOO_FEW,  /* too few runs to tell any difference from noise */
	VERDICT_NO_SIGN,  /* may be noise */
	VERDICT_DIFFERENT /* more than noise */
};

/* One group against the first, for one key. */
struct against {
	bool has_both;     /* if false, nothing below is set */
	double difference; /* of the medians */
	double relative;   /* to the first median; infinite if only that is 0 */
	enum verdict verdict;
	bool is_single;        /* one run against several: judged by @z instead of a test */
	double z;              /* distance from the median, in robust standard deviations */
	struct rank_test test; /* unset for VERDICT_NONE, and if is_single */
	double p_corrected;    /* by Holm, over the groups; NAN if there is no test */
};

struct comparison {
	const struct groups *groups; /* not owned */
	struct spread *spreads;      /* owned: [group][key] */
	struct against *againsts;    /* owned: [group][key]; unset for the first group */
};

/* Compares the groups @g, at least one, which must outlive @c. Returns 0 or -ENOMEM. */
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

bool comparison_has(const struct comparison *c, size_t key);
/* Returns "more than noise" etc.; "" for VERDICT_NONE. */
const char *verdict_name(enum verdict v);

/* Returns whether any group has more than one run, so that there are medians. */
static inline bool comparison_has_several(const struct comparison *c)
{
	return c->groups->most_sides > 1;
}

/* The rows of a comparison, the change that matters most first. All outputs take their rows from
 * here. */

#define MOST_DIFFERENCES 5 /* rows of changes, unless all are wanted */
#define LEAST_CHANGE 0.01  /* smaller relative changes are ignored if no test is possible */

enum row_state {
	ROW_ABSENT,    /* no side has the value */
	ROW_ONE_SIDED, /* only one side has it */
	ROW_EQUAL,
	ROW_SMALL,  /* below LEAST_CHANGE, without a test */
	ROW_NOISE,  /* may be noise */
	ROW_CHANGED /* more than noise; without a test, at least LEAST_CHANGE */
};

/* Values that are always shown, at the top. */
enum headline { HEAD_WALL, HEAD_CPU, HEAD_MEMORY, NR_HEADLINES };

/* The rows to show in addition to headlines and changes. */
struct row_choice {
	bool is_all;
	const size_t *wanted; /* keys; not owned */
	size_t nr_wanted;
};

struct comparison_rows {
	size_t keys[NR_KEYS]; /* keys to show, in order */
	size_t nr;
	size_t changed[NR_KEYS]; /* those of ROW_CHANGED, in the order of their importance */
	size_t nr_changed;
	size_t hidden;                    /* number of changes without a row */
	size_t left_out[ROW_CHANGED + 1]; /* number of values not shown, by state */
};

enum row_state row_state(const struct comparison *c, size_t group, size_t key);
/*
 * Finds the key of a headline; for memory, the most exact peak that both sides have. Returns false
 * if no side has one.
 */
bool headline_key(const struct comparison *c, size_t group, enum headline h, size_t *key);
#define QUEUE_KEY "runqueue_wait_seconds"

/*
 * Returns whether the verdict states the time spent waiting for a CPU, which then has no row of its
 * own: the wall time changed, and it is 1 % of that at least. Sets *@key.
 */
bool queue_is_told(const struct comparison *c, size_t group, size_t *key);
/*
 * Chooses the rows of @group against the first: what is wrong, time, CPU time and memory, then
 * changes, up to MOST_DIFFERENCES of all these: large amounts before small ones, and values that
 * follow from others last. @choice may be NULL.
 */
void comparison_choose_rows(struct comparison_rows *r, const struct comparison *c, size_t group,
			    const struct row_choice *choice);

#endif

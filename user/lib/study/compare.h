/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of runs against the first of them, value by value. */
#ifndef STUDY_COMPARE_H
#define STUDY_COMPARE_H

#include "study/group.h"
#include "study/stats.h"

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

#endif

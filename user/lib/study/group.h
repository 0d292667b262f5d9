/* SPDX-License-Identifier: BSD-2-Clause */
/* Sides put together: those that differ in nothing but chance. */
#ifndef STUDY_GROUP_H
#define STUDY_GROUP_H

#include "study/side.h"

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
void groups_done(struct groups *g);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in rules. */
#ifndef AGENT_RULES_TABLE_H
#define AGENT_RULES_TABLE_H

#include <stddef.h>

/* Below the cgroup of such a job there may be another machine, which is looked for with the rules
 * of RULE_INSIDE; its jobs have the outer job in their ids. */
#define RULE_MACHINE 1u
#define RULE_INSIDE 2u
/* All processes below such a cgroup are in jobs: of what no rule knows there, users are warned. */
#define RULE_EXPECTS 4u

struct rule_row {
	const char *kind;    /* "none": what fits is no job by itself */
	const char *pattern; /* agent/pattern.h */
	const char *id;      /* with parts of the pattern; what follows the last / is the name */
	unsigned flags;
};

/* Where two fit the same cgroup, the first decides. */
extern const struct rule_row rule_rows[];
extern const size_t nr_rule_rows;

#endif

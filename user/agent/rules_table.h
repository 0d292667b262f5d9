/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in rules. */
#ifndef AGENT_RULES_TABLE_H
#define AGENT_RULES_TABLE_H

#include <stddef.h>

/*
 * The cgroup of such a job may contain another machine, which is matched by the rules with
 * RULE_INSIDE; the ids of its jobs contain the outer job.
 */
#define RULE_MACHINE 1u
#define RULE_INSIDE 2u
/*
 * All processes below such a cgroup are in jobs: cgroups there that no rule matches cause a
 * warning.
 */
#define RULE_EXPECTS 4u

struct rule_row {
	const char *kind;    /* "none": the match is no job by itself */
	const char *pattern; /* see agent/pattern.h */
	const char *id;      /* with parts of the pattern; the text after the last / is the name */
	unsigned flags;
};

/* The first rule that matches a cgroup decides. */
extern const struct rule_row rule_rows[];
extern const size_t nr_rule_rows;

#endif

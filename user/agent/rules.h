/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which jobs a cgroup belongs to: services, sessions, containers, pods, jobs of batch systems.
 * Rules are patterns of paths: first those of the configuration, then the built-in ones.
 */
#ifndef AGENT_RULES_H
#define AGENT_RULES_H

#include "config/config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RULES_JOBS 8       /* most jobs that contain a cgroup */
#define RULES_ID_BYTES 512 /* a longer id makes no job: the cgroup stays in the enclosing job */
#define RULES_NAME_BYTES 256

/* A job that contains a cgroup. All strings are valid UTF-8 without control characters. */
struct rules_job {
	char kind[CONFIG_WORD_BYTES]; /* "service", "slurm", "pod" ... */
	char id[RULES_ID_BYTES];      /* KIND/...: unique on the machine, stable across restarts */
	char name[RULES_NAME_BYTES];  /* for display: 815, nginx.service, 12 digits of an id */
	int64_t uid;                  /* user that the path names; -1 if none */
	unsigned depth;               /* number of path components that name the job's cgroup */
	/* of Slurm, by slurm_rules_find(); empty if unknown */
	char account[64], partition[64], sluid[24], user[64];
};

struct rules;

/*
 * Prepares the rules of @c and the built-in ones. Returns 0, and the caller frees *@rules with
 * rules_close(); -ENOMEM; or -EINVAL with the wrong pattern or kind of @c in @why, as config_read()
 * does.
 */
int rules_open(const struct agent_config *c, struct rules **rules, char *why, size_t size);
void rules_close(struct rules *rules);

/*
 * Finds the jobs of the cgroup at @path, such as "/system.slice/nginx.service", outermost first;
 * each contains the next. @path is relative to the hierarchy, without the mount point. Returns
 * their number, 0 if no rule matches. Cgroups at different paths may have jobs of the same id:
 * these are one job, as in hierarchies of version 1. Allocates no memory.
 */
size_t rules_find(const struct rules *rules, const char *path, struct rules_job jobs[RULES_JOBS]);

/*
 * Returns the depth of the ancestor in @path that should contain jobs only, such as
 * slurmstepd.scope, if no rule matches what is below it; else 0.
 */
unsigned rules_find_gap(const struct rules *rules, const char *path);

/* Writes the built-in rules in columns: kind, pattern, and the id of the job. */
void rules_print_table(FILE *f);

/* The built-in rules. */

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

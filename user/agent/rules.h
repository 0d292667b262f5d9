/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which jobs a cgroup belongs to: services, sessions, containers, pods, jobs of a batch system. The
 * rules are data: patterns of paths, those of the configuration first, then those of rules_table.c.
 */
#ifndef AGENT_RULES_H
#define AGENT_RULES_H

#include "config/config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RULES_JOBS 8 /* the most jobs that a cgroup belongs to */
#define RULES_ID_BYTES                                                                             \
	512 /* a cgroup whose job would have a longer id is left to the job around it */
#define RULES_NAME_BYTES 256

/* A job that a cgroup belongs to. All texts are valid UTF-8 and steer no terminal. */
struct rules_job {
	char kind[CONFIG_WORD_BYTES]; /* service, slurm, pod ... */
	char id[RULES_ID_BYTES]; /* KIND/...: unique on the machine, and the same after a restart */
	char name[RULES_NAME_BYTES]; /* for people: 815, nginx.service, the first 12 digits of an id
				      */
	int64_t uid;                 /* of the user that the path names; -1: it names none */
	unsigned depth; /* the first so many components of the path are the cgroup of the job */
};

struct rules;

/*
 * Prepares the rules of @c and the built-in ones. 0, with *@rules to be released by rules_close();
 * -ENOMEM; -EINVAL: a pattern or kind of @c is wrong, and @why says which, as of config_read().
 */
int rules_open(const struct agent_config *c, struct rules **rules, char *why, size_t size);
void rules_close(struct rules *rules);

/*
 * The jobs that the cgroup at @path, "/system.slice/nginx.service", belongs to, the outermost
 * first; each is around the next. @path is inside of its hierarchy, without the mount point.
 * Returns their number; 0: no rule knows it. Cgroups at different paths can have a job with one id:
 * they are parts of the same job, as in the hierarchies of version 1. No memory is allocated.
 */
size_t rules_find(const struct rules *rules, const char *path, struct rules_job jobs[RULES_JOBS]);

/*
 * The first so many components of @path are a cgroup in which there are jobs only, as
 * slurmstepd.scope, and no rule knows what is below it; 0: that is not so.
 */
unsigned rules_find_gap(const struct rules *rules, const char *path);

/* Writes the built-in rules as a table of Markdown, for docs/RULES.md. */
void rules_print_table(FILE *f);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroups of one hierarchy by their id: their paths, and the jobs that they belong to. */
#ifndef AGENT_CGROUPS_H
#define AGENT_CGROUPS_H

#include "base/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node_job;

struct known_cgroup {
	uint64_t id;
	char *path; /* owned; inside of the hierarchy; NULL: it was gone before it could be seen */
	struct node_job *job; /* the innermost that it belongs to; NULL: not looked at yet */
	unsigned gap;         /* rules_find_gap() */
	bool is_gone;         /* removed; its accounts may not be final yet */
	bool is_over;         /* and they are: it is about to be forgotten */
	size_t nr_accounts;   /* in the last drain */
	bool is_busy;         /* one of these had a process */
	unsigned idle_drains; /* in a row without a process */
};

struct cgroups {
	struct known_cgroup **all; /* owned; by id */
	size_t nr, room;
	char point[4096]; /* where the hierarchy is mounted */
	bool is_whole;    /* from its root: the kernel's paths are those below @point */
	int point_fd;     /* -1: not open */
};

/*
 * Finds the hierarchy that accounts go by: "auto", "unified", or a controller of version 1; @root
 * is its root. 0; or a negative errno, and @why is a sentence without a full stop.
 */
int cgroups_find_root(const char *hierarchy, struct cgroup_target *root, char *why, size_t size);

/* Opens the hierarchy of @root and learns all cgroups that there are. 0 or a negative errno. */
int cgroups_open(struct cgroups *c, const struct cgroup_target *root);
void cgroups_done(struct cgroups *c);

struct known_cgroup *cgroups_find(const struct cgroups *c, uint64_t id);
/* The cgroup @id at @path, which is NULL if it is to be looked up. NULL without memory. */
struct known_cgroup *cgroups_learn(struct cgroups *c, uint64_t id, const char *path);
/* Forgets it; invalidates the pointer. */
void cgroups_forget(struct cgroups *c, struct known_cgroup *one);
/* Whether there is a cgroup at the first @depth components of @path. */
bool cgroups_has(const struct cgroups *c, const char *path, unsigned depth);
/* Whether the cgroup @id exists; true also if that cannot be found out. */
bool cgroups_has_id(const struct cgroups *c, uint64_t id);

#endif

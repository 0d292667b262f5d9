/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroups of one hierarchy by id, with their paths and jobs. */
#ifndef AGENT_CGROUPS_H
#define AGENT_CGROUPS_H

#include "base/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_label;
struct node_job;

struct known_cgroup {
	uint64_t id;
	char *path;           /* owned; below @point; NULL if removed before it was read */
	struct node_job *job; /* innermost job that contains it; NULL: not looked up yet */
	unsigned gap;         /* rules_find_gap() */
	bool is_gone;         /* removed; its accounts may still change */
	bool is_over;         /* removed, and its accounts are final: is forgotten next */
	size_t nr_accounts;   /* in the last drain */
	bool is_busy;         /* one of these accounts had a process */
	unsigned idle_drains; /* consecutive drains without a process */
};

struct cgroups {
	struct known_cgroup **all; /* owned; sorted by id */
	size_t nr, room;
	char point[4096]; /* mount point of the hierarchy */
	bool is_whole;    /* mounted from its root: kernel paths are those below @point */
	int point_fd;     /* -1: not open */
	/* mount point of the controller cpu, if that is in another hierarchy; empty: unknown */
	char cpu_point[4096];
};

/*
 * Finds the hierarchy to account by and sets @root to its root. @hierarchy is "auto", "unified", or
 * a controller of version 1. Returns 0, or a negative errno with a sentence without a full stop in
 * @why.
 */
int cgroups_find_root(const char *hierarchy, struct cgroup_target *root, char *why, size_t size);

/* Opens the hierarchy of @root and adds all existing cgroups. Returns 0 or a negative errno. */
int cgroups_open(struct cgroups *c, const struct cgroup_target *root);
void cgroups_done(struct cgroups *c);

struct known_cgroup *cgroups_find(const struct cgroups *c, uint64_t id);
/*
 * Returns the cgroup @id, adding it if it is new; NULL if out of memory. If @path is NULL it is
 * looked up.
 */
struct known_cgroup *cgroups_find_or_add(struct cgroups *c, uint64_t id, const char *path);
/* Removes and frees @one. */
void cgroups_forget(struct cgroups *c, struct known_cgroup *one);
/* Returns the id of the cgroup @path; 0 if it does not exist, or is the root. */
uint64_t cgroups_id_of(const struct cgroups *c, const char *path);
/* Returns whether a cgroup exists at the first @depth components of @path. */
bool cgroups_has(const struct cgroups *c, const char *path, unsigned depth);
/* Returns whether the cgroup @id exists; true also if that cannot be determined. */
bool cgroups_has_id(const struct cgroups *c, uint64_t id);
/* Looks a known cgroup up by its id. Returns 0, or a negative errno if the kernel refuses that. */
int cgroups_try_handles(const struct cgroups *c);
/*
 * Reads the limits of the cgroup @cg, which is in the hierarchy, and of those above into @label,
 * @with_request also the CPU request that it has from a kubelet. Returns whether they have changed.
 */
bool cgroups_read_limits(const struct cgroups *c, const struct cgroup *cg, bool with_request,
			 struct job_label *label);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run at one moment of its history: the tree of the processes alive then, with the resources of
 * each and of its subtree, ended descendants included; and the ended processes by program.
 */
#ifndef TOP_SCENE_H
#define TOP_SCENE_H

#include "top/model.h"

/* A live process. */
struct actor {
	uint32_t task;
	int32_t parent;                 /* index of an actor; -1 for a root */
	uint32_t nr_children, nr_below; /* live children; ended processes of the subtree */
	struct usage own;
	struct usage sum;       /* of the subtree, including counters of ended processes */
	struct usage grown;     /* own growth of counters since the moment before */
	struct usage sum_grown; /* growth of counters of the subtree */
};

struct ended_program {
	uint32_t program;
	uint64_t nr;
	struct usage used;
	uint64_t rss_peak_bytes; /* of the largest; 0 if unknown */
};

struct scene {
	int64_t at_ns, before_ns; /* this moment and the one before */
	struct actor *actors;     /* owned; parents before children */
	size_t nr_actors, room_actors;
	struct ended_program *ended; /* owned */
	size_t nr_ended, room_ended;
	uint64_t nr_ended_processes;
	struct usage ended_used;     /* of all ended processes */
	struct usage orphaned;       /* the part of it that is in the sum of no live process */
	struct usage total;          /* of all processes, live and ended */
	struct usage total_grown;    /* growth of counters since the moment before */
	struct usage run, run_grown; /* the same two from samples of the run, if there are any */
	uint32_t *of_task;           /* owned; index of the actor + 1, per task */
	size_t room_of_task;
};

/* Builds the scene of @at_ns. Returns 0 or -ENOMEM. */
int scene_build(struct scene *s, struct model *m, int64_t at_ns);
void scene_done(struct scene *s);
/* Returns the actor of a task, or NULL if it was not alive. */
const struct actor *scene_find(const struct scene *s, uint32_t task);

#endif

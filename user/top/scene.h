/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run at one moment of its history: the tree of the processes that lived then, what each has used
 * and the sum of its subtree, ended descendants included; and what had ended, by program.
 */
#ifndef TOP_SCENE_H
#define TOP_SCENE_H

#include "top/model.h"

/* A live process. */
struct actor {
	uint32_t task;
	int32_t parent;                 /* of the actors; -1: none, it is a root */
	uint32_t nr_children, nr_below; /* live ones; ended ones of all its subtree */
	struct usage own;
	struct usage sum;       /* of the subtree; counters of ended ones included */
	struct usage grown;     /* counters since the moment before, own */
	struct usage sum_grown; /* the same of the subtree */
};

struct ended_program {
	uint32_t program;
	uint64_t nr;
	struct usage used;
	uint64_t rss_peak_bytes; /* of the largest; 0: not known */
};

struct scene {
	int64_t at_ns, before_ns; /* the moment, and the one before */
	struct actor *actors;     /* owned; parents before their children */
	size_t nr_actors, room_actors;
	struct ended_program *ended; /* owned */
	size_t nr_ended, room_ended;
	uint64_t nr_ended_processes;
	struct usage ended_used;  /* of all that have ended */
	struct usage orphaned;    /* the part of these that no live process has in its sum */
	struct usage total;       /* of all processes, live and ended */
	struct usage total_grown; /* counters since the moment before */
	struct usage run,
		run_grown; /* the same as the run's samples have it, where there are any */
	uint32_t *of_task; /* owned; index of the actor + 1 */
	size_t room_of_task;
};

/* Makes the scene of @at_ns. -ENOMEM. */
int scene_build(struct scene *s, struct model *m, int64_t at_ns);
void scene_done(struct scene *s);
/* The actor of a task; NULL: it did not live then. */
const struct actor *scene_find(const struct scene *s, uint32_t task);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Container engines: each is asked through its own client, if that is installed. */
#ifndef CONTAINER_ENGINE_H
#define CONTAINER_ENGINE_H

#include "base/user.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NR_ENGINES 6

/* The answer of an engine about a container. */
struct engine_answer {
	char id[128];
	pid_t pid;      /* of its first process, in bpfmon's namespace; 0: it is not running */
	char state[32]; /* in the engine's words: "running", "exited" */
	char why[320];  /* why it could not be asked, without a full stop */
};

/* By index in the order in which they are asked: each before those that it may be built on. */
const char *engine_name(size_t i);
/*
 * Asks engine @i for the container with that name, id, or beginning of an id, as the user @as
 * (NULL: the effective one), with @limit_ns for each call of its client. 0; -ENOENT: it has none;
 * -ENOTUNIQ: several; -ENOPKG: it is not installed, or @as has no containers of it; any other
 * negative errno: @answer->why. @name must not begin with a hyphen.
 */
int engine_ask(size_t i, const char *name, const struct user *as, uint64_t limit_ns,
	       struct engine_answer *answer);

#endif

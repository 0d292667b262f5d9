/* SPDX-License-Identifier: BSD-2-Clause */
/* What was executed: path and arguments of each exec, for as long as a process may run it. */
#ifndef MEASURE_IMAGES_H
#define MEASURE_IMAGES_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image {
	uint64_t id;
	uint64_t seen_ns; /* CLOCK_MONOTONIC: a process ran it then */
	struct image *next;
	const char *exe; /* NULL: not known, or too deep */
	const char *args;
	size_t args_length;
	bool args_cut, has_args;
	bool has_mixed_ids; /* it was not of that user alone: a program with set-user-ID */
	uint32_t uid;       /* of the first process that ran it */
	char text[];        /* exe and args point into it */
};

struct images {
	struct image **slots; /* owned */
	size_t nr_slots, used, prune_at;
};

int images_init(struct images *all);
void images_done(struct images *all);
/* Keeps the image of @e. 0; -ENOMEM: it will not be known. */
int images_add(struct images *all, const struct exec_event *e, uint64_t now_ns);
/* NULL: not known. */
const struct image *images_find(const struct images *all, uint64_t id);
/* A process runs it now. */
void images_touch(struct images *all, uint64_t id, uint64_t now_ns);
/* If there are many images, frees those that no process has run for a while. Call after a drain. */
void images_prune(struct images *all, uint64_t now_ns);

/* What a process runs that was executed before it was followed: read from /proc. */

/* Fills in @e, except for its image, as the exec hook would have. A negative errno: the process is
 * gone, or may not be read. */
int image_of_running(pid_t pid, bool want_args, struct exec_event *e);

#endif

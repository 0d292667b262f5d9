/* SPDX-License-Identifier: BSD-2-Clause */
/* Path and arguments of each exec, kept for as long as a process may run that image. */
#ifndef MEASURE_IMAGES_H
#define MEASURE_IMAGES_H

#include "base/json.h"
#include "bpfmon/shared.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image {
	uint64_t id;
	uint64_t seen_ns; /* CLOCK_MONOTONIC when a process was last seen to run it */
	struct image *next;
	const char *exe; /* NULL: unknown or too deep */
	const char *args;
	size_t args_length;
	bool args_cut, has_args;
	bool has_mixed_ids; /* real, effective or saved user ids differed */
	uint32_t uid;       /* of the first process that ran it */
	char text[];        /* storage of exe and args */
};

struct images {
	struct image **slots; /* owned */
	size_t nr_slots, used, prune_at;
};

int images_init(struct images *all);
void images_done(struct images *all);
/* Stores the image of @e. Returns 0, or -ENOMEM if it will be unknown. */
int images_add(struct images *all, const struct exec_event *e, uint64_t now_ns);
/* Returns NULL if the image is unknown. */
const struct image *images_find(const struct images *all, uint64_t id);
void images_touch(struct images *all, uint64_t id, uint64_t now_ns);
/* Frees images that no process has run recently, if there are many. Call after a drain. */
void images_prune(struct images *all, uint64_t now_ns);

/* For the next process: writes the images seen since @since_ns as the array "images". */
void images_keep(const struct images *all, uint64_t since_ns, struct jsonw *j);
/* Stores what images_keep() has written. Returns 0 or -ENOMEM. */
int images_resume(struct images *all, const json_t *array, uint64_t now_ns);

/*
 * Reads from /proc what @pid runs and fills @e as the exec hook would, except for e->image. For
 * processes whose exec was not seen. Returns a negative errno if the process is gone or may not be
 * read.
 */
int image_of_running(pid_t pid, bool want_args, struct exec_event *e);

#endif

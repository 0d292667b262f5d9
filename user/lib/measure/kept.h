/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded books that outlive their process: while the kernel goes on counting, the next process
 * takes over the maps, programs and links of the last one, if its own programs are the same.
 */
#ifndef MEASURE_KEPT_H
#define MEASURE_KEPT_H

#include "base/json.h"
#include "bpfmon/shared.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_BOOKS_FDS 200 /* descriptors of the books of a tracker */

struct bpfmon;
struct tracker;

/* What another process has written with kept_write(), and its descriptors. */
struct kept {
	const json_t *books; /* not owned */
	const int *fds;      /* those of kept_fds(), in order; not owned */
	size_t nr;
};

/*
 * Copies the descriptors of the books to @fds (KEPT_BOOKS_FDS), which the tracker still owns.
 * Returns their number, or 0 if there are too many.
 */
size_t kept_fds(const struct tracker *t, int *fds);
/* Writes what the next process needs besides the descriptors, as the object "books". */
void kept_write(const struct tracker *t, struct jsonw *j);

/* Returns whether @skel, which is not loaded, has the programs and settings of @k. */
bool kept_fits(const struct kept *k, const struct bpfmon *skel);
/* Sets the number of tasks for which the maps of @k have room, and which optional programs run. */
void kept_settings(const struct kept *k, unsigned *max_tasks, unsigned *optionals);
/* Makes @skel, which is not loaded, use the maps of @k. Returns 0 or a negative errno. */
int kept_use_maps(const struct kept *k, struct bpfmon *skel);
/* Returns the descriptor of the program @name, which @k still owns, or -1. */
int kept_program(const struct kept *k, const char *name);
/* Gives @t what is left of @k: links and sums. Returns 0 or a negative errno. */
int kept_finish(const struct kept *k, struct tracker *t);

/* An account as an array of its fields, for the same programs only. */
void kept_write_account(struct jsonw *j, const char *key, const struct account *a);
void kept_read_account(const json_t *array, struct account *a);

#endif

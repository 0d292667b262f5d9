/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs BPF iterators over tasks, and passes over maps that begin in one. */
#ifndef MEASURE_ITERATOR_H
#define MEASURE_ITERATOR_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct bpf_link;
struct bpf_map;
struct bpf_program;
struct pass;

/* Runs the iterator of @link to its end. 0, or a negative errno. */
int iterator_run(const struct bpf_link *link);
/*
 * A link of the iterator over tasks @prog and the tasks of the process @pid alone, owned by the
 * caller; over all tasks where the kernel (before 6.1) cannot choose. NULL, and errno.
 */
struct bpf_link *iterator_over_process(const struct bpf_program *prog, pid_t pid);

/* A program that walks a map when its iterator has come to its end, and the rows that it writes. */
struct walker {
	struct bpf_link *link;    /* owned */
	volatile struct pass *at; /* where the program says how far it is; not owned */
	const void *rows;         /* mapped, owned */
	size_t row_bytes, rows_bytes;
};

/* @rows is the map for its rows. On failure a negative errno; walker_close() may be called. */
int walker_open(struct walker *w, const struct bpf_program *prog, const struct bpf_map *rows,
		struct pass *at);
/* Zeroed or opened. */
void walker_close(struct walker *w);
/*
 * Goes on with the pass, whose number the caller raises to begin another one: calls @take for each
 * row (NULL: they are ignored). 0, or a negative errno.
 */
int walker_run(struct walker *w, void (*take)(void *context, const void *row), void *context);

/* Reads all elements of a BPF hash map, many with one system call. */

struct bpf_map;

/* Begins as { .map = map }. */
struct map_walk {
	const struct bpf_map *map; /* not owned */
	__u32 place;               /* in the map, for the kernel */
	bool has_begun, has_ended;
};

/*
 * Reads the next elements into @keys and @values, which have room for @most, more than any bucket
 * of the map has. How many these are, 0 after the last, or a negative errno.
 */
int map_walk_next(struct map_walk *walk, void *keys, void *values, size_t most);

#endif

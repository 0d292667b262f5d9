/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs BPF task iterators, and walks over BPF maps. */
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

/* Runs the iterator of @link to its end. Returns 0 or a negative errno. */
int iterator_run(const struct bpf_link *link);
/*
 * Returns a link of the task iterator @prog limited to the tasks of @pid; before Linux 6.1 it
 * visits all tasks. The caller destroys it. Returns NULL and sets errno on error.
 */
struct bpf_link *iterator_over_process(const struct bpf_program *prog, pid_t pid);

/* A program that walks a map when its iterator ends, and the rows that it writes. */
struct walker {
	struct bpf_link *link;    /* owned */
	volatile struct pass *at; /* progress, written by the program; not owned */
	const void *rows;         /* owned; mmap of the rows map */
	size_t row_bytes, rows_bytes;
};

/*
 * @rows is the map that @prog writes rows to. Returns 0 or a negative errno; call walker_close() in
 * either case.
 */
int walker_open(struct walker *w, const struct bpf_program *prog, const struct bpf_map *rows,
		struct pass *at);
/* @w may be zeroed. */
void walker_close(struct walker *w);
/*
 * Continues the pass: calls @take (may be NULL) for each row. The caller increments at->number to
 * begin a new pass. Returns 0 or a negative errno.
 */
int walker_run(struct walker *w, void (*take)(void *context, const void *row), void *context);

struct bpf_map;

/* Reads all elements of a BPF hash map in batches. Initialize with { .map = map }. */
struct map_walk {
	const struct bpf_map *map; /* not owned */
	__u32 place;               /* position in the map, for the kernel */
	bool has_begun, has_ended;
};

/*
 * Reads the next elements into @keys and @values, which have room for @most; that must exceed the
 * largest bucket of the map. Returns their number, 0 at the end, or a negative errno.
 */
int map_walk_next(struct map_walk *walk, void *keys, void *values, size_t most);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads all elements of a BPF hash map, many with one system call. */
#ifndef MEASURE_MAP_WALK_H
#define MEASURE_MAP_WALK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a BPF iterator to its end, and passes on what its program writes. */
#ifndef TRACK_ITERATOR_H
#define TRACK_ITERATOR_H

#include <stddef.h>
#include <sys/types.h>

struct bpf_link;
struct bpf_map;
struct bpf_program;

/*
 * Runs the iterator of @link. Its program writes items of @size bytes, no more than
 * ITERATOR_ITEM_BYTES; @take is called for each. NULL: items are ignored. 0, or a negative errno.
 */
#define ITERATOR_ITEM_BYTES 1024
int iterator_run(const struct bpf_link *link, size_t size,
		 void (*take)(void *context, const void *item), void *context);
/* A link of the iterator @prog over the elements of @map, owned by the caller; or NULL, and errno.
 */
struct bpf_link *iterator_over_map(const struct bpf_program *prog, const struct bpf_map *map);
/*
 * The same of the iterator over tasks @prog and the tasks of the process @pid alone; over all tasks
 * where the kernel (before 6.1) cannot choose.
 */
struct bpf_link *iterator_over_process(const struct bpf_program *prog, pid_t pid);

#endif

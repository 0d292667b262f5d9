/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads the programs of a skeleton into the kernel, several at a time: its verifier needs up to
 * 10 ms for one of them, and takes no lock.
 */
#ifndef MEASURE_LOADER_H
#define MEASURE_LOADER_H

#include "measure/kernel_btf.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct bpfmon;

#define RELOCATED_MOST 32 /* programs of a skeleton that are loaded at once */

/* What all attempts to load have in common. */
struct loader {
	struct bpfmon *first; /* owned, until it is given away */
	int types_fd;         /* a small copy of the kernel's types; -1: all are searched */
	struct kernel_type hooks[RELOCATED_MOST + 1]; /* of the programs, in their order */
	size_t nr_hooks;
	bool verbose;           /* print to stderr why the kernel refuses a program */
	unsigned refused_types; /* bits, as if the kernel refused these; for tests */
};

/* @all_types: without a copy of them. 0, or a negative errno; loader_close() in any case. */
int loader_open(struct loader *l, bool all_types);
void loader_close(struct loader *l);
/* A skeleton to be loaded, which the caller destroys; NULL, and errno. */
struct bpfmon *loader_skeleton(struct loader *l);
/* False: the kernel has not what @p is attached to. */
bool loader_has_hook(const struct loader *l, const struct bpf_program *p);
/* True if the kernel keeps resident memory for each CPU (6.2). */
bool loader_has_percpu_rss(const struct loader *l);

/*
 * Loads maps and programs of @skel. 0, or a negative errno; then @skel is only to be destroyed.
 * @refused is called for each program that the kernel refuses.
 */
int loader_load(const struct loader *l, struct bpfmon *skel,
		void (*refused)(void *context, const struct bpf_program *p, int err),
		void *context);

#endif

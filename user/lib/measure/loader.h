/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads the programs of a skeleton in parallel: the verifier takes up to 10 ms for one and holds no
 * lock.
 */
#ifndef MEASURE_LOADER_H
#define MEASURE_LOADER_H

#include "measure/kernel_btf.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct bpfmon;
struct kept;

#define RELOCATED_MOST 40 /* programs of a skeleton that are loaded at once */

enum some_type { TYPE_SUMMED_RSS, TYPE_RT_LOCK, NR_SOME_TYPES };

/* Shared by all attempts to load. */
struct loader {
	struct bpfmon *first; /* owned until loader_skeleton() returns it */
	int types_fd;         /* small copy of the kernel's BTF; -1: use all */
	/* types that only some kernels have (enum some_type), and those that programs attach to */
	struct kernel_type hooks[NR_SOME_TYPES + RELOCATED_MOST];
	size_t nr_hooks;
	bool verbose;            /* print the verifier's report of refused programs to stderr */
	const struct kept *kept; /* programs to take over; not owned; NULL: load them */
	unsigned refused_types;  /* bits of program_type_bits() to refuse, for tests */
};

/*
 * With @all_types, makes no small copy of the BTF. Returns 0 or a negative errno; call
 * loader_close() in either case.
 */
int loader_open(struct loader *l, bool all_types);
void loader_close(struct loader *l);
/* Returns a skeleton to load, which the caller destroys, or NULL with errno set. */
struct bpfmon *loader_skeleton(struct loader *l);
/* Returns false if the kernel lacks the hook of @p. */
bool loader_has_hook(const struct loader *l, const struct bpf_program *p);
/* Returns true if the kernel has per-CPU counters of resident memory (6.2). */
bool loader_has_percpu_rss(const struct loader *l);
/* Returns true if the kernel has PREEMPT_RT. */
bool loader_is_of_realtime(const struct loader *l);

/*
 * Loads maps and programs of @skel. Calls @refused for each program that the kernel refuses.
 * Returns 0, or a negative errno; then @skel can only be destroyed.
 */
int loader_load(const struct loader *l, struct bpfmon *skel,
		void (*refused)(void *context, const struct bpf_program *p, int err),
		void *context);

#endif

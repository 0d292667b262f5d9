/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes relocated programs from libbpf. It would load them one by one, and read all types of the
 * kernel to find the numbers of the hooks. So it gets an empty program to load in place of each,
 * whose descriptor is then made one of the true program.
 */
#ifndef MEASURE_RELOCATED_H
#define MEASURE_RELOCATED_H

#include <bpf/bpf.h>
#include <stddef.h>

struct bpf_insn;
struct bpf_program;

#define RELOCATED_MOST 32

struct relocated {
	struct bpf_program *program; /* not owned */
	enum bpf_prog_type type;
	struct bpf_prog_load_opts options; /* what it refers to is owned */
	struct bpf_insn *insns;            /* owned */
	size_t nr_insns;
};

struct relocated_set {
	struct relocated programs[RELOCATED_MOST];
	size_t nr;
};

/* To be called before the skeleton is opened. 0, or a negative errno. */
int relocated_register(void);
/*
 * Programs of any skeleton that is loaded from now on are added to @set. NULL: to none, and loading
 * one fails.
 */
void relocated_collect(struct relocated_set *set);
void relocated_done(struct relocated_set *set);

#endif

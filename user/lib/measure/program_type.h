/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of BPF programs that bpfmon needs, and whether this kernel permits them. */
#ifndef MEASURE_PROGRAM_TYPE_H
#define MEASURE_PROGRAM_TYPE_H

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_type;

struct program_type {
	const char *section; /* of such a program, as libbpf takes it: with a slash a prefix */
	const char *name;    /* for users */
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	unsigned flags;
	const char *hook;    /* begins the name of the kernel's type that is attached to; or NULL */
	uint16_t kind;       /* of that type */
	const char *example; /* of such a hook, to attach a program to that does nothing */
	const char *without; /* what bpfmon does without such programs; NULL: it cannot run */
};

#define NR_PROGRAM_TYPES 10
#define ENOTSUPP 524 /* the kernel's own; the C library has no text for it */

/* NULL after the last. Those of one name follow each other. */
const struct program_type *program_type_row(size_t i);
/* That of a program in @section, with or without a question mark; NULL: it is none of these. */
const struct program_type *program_type_find(const char *section);
/* The bits of the rows with the name @name; 0: there is none. */
unsigned program_type_bits(const char *name);
/*
 * The name and kind of the kernel's type that stands for what a program in @section is attached to.
 * -ENOENT: it is attached to no such type.
 */
int program_type_hook(const char *section, struct kernel_type *hook);
/* Writes why programs of @type do not load, or attach, after the negative @err. */
void program_type_explain(const struct program_type *type, int err, char *why, size_t size);
/*
 * Loads and attaches a program of two instructions of each type but those in @refused, whose
 * refusal it imitates, for tests. Calls @fn for each name: @why, if it is not permitted, and
 * whether this kernel needs it.
 */
void program_types_probe(unsigned refused,
			 void (*fn)(void *context, const struct program_type *type,
				    bool is_permitted, bool is_needed, const char *why),
			 void *context);

#endif

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
	const char *section; /* ELF section for libbpf; with a slash, a prefix */
	const char *name;    /* as shown to users */
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	unsigned flags;
	const char *hook;    /* prefix of the kernel's BTF type of the hook, or NULL */
	uint16_t kind;       /* BTF kind of that type */
	const char *example; /* a hook for a test attachment */
	const char *without; /* effect of missing such programs; NULL: required */
};

#define NR_PROGRAM_TYPES 10
#define ENOTSUPP 524 /* kernel-internal; the C library has no text for it */

/* Returns NULL after the last row. Rows with the same name are adjacent. */
const struct program_type *program_type_row(size_t i);
/* Returns the row of programs in @section, which may begin with a question mark, or NULL. */
const struct program_type *program_type_find(const char *section);
/* Returns the bits of the rows called @name, or 0. */
unsigned program_type_bits(const char *name);
/*
 * Sets name and kind of the BTF type that stands for the hook of programs in @section. Returns 0,
 * or -ENOENT if they attach to no such type.
 */
int program_type_hook(const char *section, struct kernel_type *hook);
/* Writes why programs of @type do not load or attach with the negative errno @err. */
void program_type_explain(const struct program_type *type, int err, char *why, size_t size);
/*
 * Loads and attaches an empty program of each type. Types in @refused fail with -EPERM, for tests.
 * Calls @fn for each type name; @why is the reason if it is not permitted, and @is_needed is false
 * if this kernel does not need it.
 */
void program_types_probe(unsigned refused,
			 void (*fn)(void *context, const struct program_type *type,
				    bool is_permitted, bool is_needed, const char *why),
			 void *context);

#endif

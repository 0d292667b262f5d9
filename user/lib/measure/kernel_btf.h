/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's types (BTF) as they lie in memory, each found by its number. */
#ifndef MEASURE_KERNEL_BTF_H
#define MEASURE_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct btf_type;

struct kernel_btf {
	void *bytes; /* owned */
	size_t size;
	bool is_mapped;
	const char *strings;
	size_t strings_size;
	const char *types;
	uint32_t *offsets; /* owned; of each type in @types, by its number */
	uint32_t nr_types; /* void, number 0, included */
};

/* One to look for. */
struct kernel_type {
	char name[64];
	uint16_t kind; /* BTF_KIND_... */
	uint32_t id;   /* 0: the kernel has none */
};

/* Reads them. A negative errno: there are none, or they are not as we know them. */
int kernel_btf_open(struct kernel_btf *k);
void kernel_btf_close(struct kernel_btf *k);
/* Sets the numbers of the @nr types in @wanted, in one pass over all; of several the first. */
void kernel_btf_find(const struct kernel_btf *k, struct kernel_type *wanted, size_t nr);
/*
 * The value of the enumerator @name, of whichever enumeration has it, also one without a name,
 * which CO-RE cannot ask for. -ENOENT: none has.
 */
int64_t kernel_btf_enumerator(const struct kernel_btf *k, const char *name);

/*
 * Writes to @fd a small copy of the types of @kernel: those whose names are in @local, and all that
 * their members embed; a pointer is one to void there. For each type that a program uses libbpf
 * searches all that it has, of the kernel's some 150,000. 0, or a negative errno: @fd is of no use
 * then.
 */
int small_btf_write(int fd, const struct kernel_btf *kernel, const struct btf *local);

#endif

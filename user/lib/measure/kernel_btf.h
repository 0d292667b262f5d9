/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's types (/sys/kernel/btf/vmlinux), indexed by type id. */
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
	uint32_t *offsets; /* owned; position of each type in @types */
	uint32_t nr_types; /* including void, id 0 */
};

/* A type to look for. */
struct kernel_type {
	char name[64];
	uint16_t kind; /* BTF_KIND_... */
	uint32_t id;   /* 0: not found */
};

/* Maps or reads the BTF. Returns a negative errno if there is none or its format is unknown. */
int kernel_btf_open(struct kernel_btf *k);
void kernel_btf_close(struct kernel_btf *k);
/* Sets the ids of the @nr types in @wanted in one pass; of several with the same name the first. */
void kernel_btf_find(const struct kernel_btf *k, struct kernel_type *wanted, size_t nr);
/*
 * Returns the value of the enumerator @name of any enum, including unnamed ones, which CO-RE cannot
 * look up. Returns -ENOENT if there is none.
 */
int64_t kernel_btf_enumerator(const struct kernel_btf *k, const char *name);

/*
 * Writes to @fd a small copy of @kernel: types whose names are in @local and all that they embed,
 * with each pointer as void *. libbpf searches all types for each one that a program uses, and the
 * kernel has about 150,000. Returns 0, or a negative errno; @fd is then unusable.
 */
int small_btf_write(int fd, const struct kernel_btf *kernel, const struct btf *local);

#endif

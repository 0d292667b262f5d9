/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small copy of the kernel's types (BTF), with only those that our programs name. For each type
 * that a program uses libbpf searches all of the kernel's, some 150,000: that was a third of the
 * time that the start takes.
 */
#ifndef MEASURE_SMALL_BTF_H
#define MEASURE_SMALL_BTF_H

struct btf;
struct kernel_btf;

/*
 * Writes to @fd the types of @kernel whose names are in @local, and all that their members
 * embed; a pointer is one to void there. 0, or a negative errno: @fd is of no use then.
 */
int small_btf_write(int fd, const struct kernel_btf *kernel, const struct btf *local);

#endif

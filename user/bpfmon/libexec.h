/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that bpfmon executes: beside it in a checkout, in libexec when installed. */
#ifndef BPFMON_LIBEXEC_H
#define BPFMON_LIBEXEC_H

#include <stddef.h>

/* Finds the path of bpfmon itself in @size bytes. Returns 0 or a
 * negative errno. */
int libexec_find_self(char *self, size_t size);
/* Finds @program; @path has PATH_MAX bytes. Returns 0, or -ENOENT after a message. */
int libexec_find(const char *program, char *path);

#endif

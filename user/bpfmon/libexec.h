/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that bpfmon executes: beside it in a checkout, in libexec when installed. */
#ifndef BPFMON_LIBEXEC_H
#define BPFMON_LIBEXEC_H

#include <limits.h>

/* Finds the path of bpfmon itself. Returns 0 or a negative errno. */
int libexec_find_self(char self[PATH_MAX]);
/* Finds @program. Returns 0, or -ENOENT after a message. */
int libexec_find(const char *program, char path[PATH_MAX]);

#endif

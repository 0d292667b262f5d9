/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes the machine: processors, memory, operating system. */
#ifndef RUN_SYSTEM_H
#define RUN_SYSTEM_H

#include "run/meta.h"

/* Reads files below @root ("" for the machine's own). Values without a file stay unchanged. */
void system_read(const char *root, struct system_info *s);
/* Reads what needs no file: architecture and boot time. */
void system_read_kernel(struct system_info *s);

#endif

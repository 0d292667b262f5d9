/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine: its processors, memory and operating system. */
#ifndef META_SYSTEM_H
#define META_SYSTEM_H

#include "model/meta.h"

/* What the files below @root ("": the machine's own) say; what they do not is left as it is. */
void system_read(const char *root, struct system_info *s);
/* Sockets, cores, threads and NUMA nodes; a part of system_read(). */
void topology_read(const char *root, struct system_info *s);
/* What the kernel tells without files: the architecture, and when it was booted. */
void system_ask(struct system_info *s);

#endif

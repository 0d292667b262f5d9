/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine: its processors, memory and operating system. */
#ifndef RUN_SYSTEM_H
#define RUN_SYSTEM_H

#include "run/meta.h"

/* Reads the files below @root ("": the machine's own); what is not in them stays unchanged. */
void system_read(const char *root, struct system_info *s);
/* What needs no file: the architecture, and the time of boot. */
void system_read_kernel(struct system_info *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Why we may not, where containers are in the way. */
#ifndef TRACK_PERMISSION_H
#define TRACK_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, of the machine; else -EPERM, and @why what to do. */
int permission_check(const char *proc, char *why, size_t size);
/* What may be behind an EPERM of bpf(2) though we have the capabilities; NULL: nothing is known. */
const char *permission_hint(const char *proc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bpfmon has the capabilities it needs, and how a container may deny them. */
#ifndef MEASURE_PERMISSION_H
#define MEASURE_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* 0: CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, of the machine. -EPERM: @why says what to do. */
int permission_check(const char *proc, char *why, size_t size);
/* What may cause an EPERM of bpf(2) in spite of the capabilities; NULL: nothing is known. */
const char *permission_hint(const char *proc);

#endif

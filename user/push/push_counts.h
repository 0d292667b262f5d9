/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpfmon-push says about itself, in the measurement bpfmon_push. */
#ifndef PUSH_PUSH_COUNTS_H
#define PUSH_PUSH_COUNTS_H

#include <stdint.h>

/* In the unit of the row: times in ns. */
struct push_counts {
#define PUSH_COUNT(key, kind, unit, help) uint64_t key;
#include "push/push_counts.def"
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes have used, as /proc has it: sums that are moved about and subtracted. */
#ifndef MEASURE_PROC_USED_H
#define MEASURE_PROC_USED_H

#include "base/procstat.h"
#include "bpfmon/shared.h"

#include <stdbool.h>

/* The fields are all uint64_t. */
struct proc_used {
	uint64_t user_ns, system_ns, minflt, majflt;
	uint64_t nvcsw, nivcsw; /* of first threads alone */
	struct proc_io io;
};

void proc_used_add(struct proc_used *sum, const struct proc_used *part);
/* Subtracts modulo 2^64: a sum of terms in any order is right in the end. */
void proc_used_subtract(struct proc_used *sum, const struct proc_used *part);
/* Takes @part from @u, whose fields do not fall below 0. */
void proc_used_take(struct proc_used *u, const struct proc_used *part);
/* The less of both, field by field. */
struct proc_used proc_used_least(const struct proc_used *a, const struct proc_used *b);
bool proc_used_is_zero(const struct proc_used *u);
/* Raises a counter that never falls. A value that is negative, modulo 2^64, is none. */
void counter_raise(__u64 *published, uint64_t now);
/* Raises the counters of an account, which never fall; a field of @u that is negative, modulo 2^64,
 * is none. */
void proc_used_publish(const struct proc_used *u, struct account *a);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long runs stay in the store of the node: what is too old or too much goes, step by step. By
 * age nothing goes as long as the clock may be wrong, as after a boot: either it has run without a
 * step for hours of this process, or each of the days that are kept has a run.
 */
#ifndef AGENT_RETENTION_H
#define AGENT_RETENTION_H

#include "store/database.h"
#include "store/identity.h"

#include <stdint.h>

struct retention {
	uint64_t keep_ns, keep_bytes;
	uint64_t due_ns;          /* CLOCK_MONOTONIC: the next look for runs that are too old */
	int64_t epoch_of_boot_ns; /* by the clock, at that moment of CLOCK_BOOTTIME: */
	uint64_t steady_since_ns; /* the clock has had no step since; 0: never looked at */
	char self[IDENTITY_BYTES];
};

void retention_init(struct retention *r, uint64_t keep_ns, uint64_t keep_bytes);
/*
 * Removes runs in one short transaction, the oldest first, and gives space back to the file system.
 * Never one that this process writes. Errors as database_open().
 */
int retention_step(struct retention *r, struct database *d);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a run is stalled: its processes are there, and for a time they have begun and ended none,
 * moved no bytes, and used next to no CPU.
 */
#ifndef JOB_STALL_H
#define JOB_STALL_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

#define STALL_CPU_PARTS                                                                            \
	1000 /* of the time on one CPU: a loop that polls for work uses that                       \
	      */

struct stall {
	uint64_t after_ns; /* 0: not asked for */
	bool is_stalled;
	uint64_t begun_ns; /* of the last stall: when it had begun, since the start of the run */
	uint64_t since_ns; /* the last sample before which something was done */
	uint64_t cpu, moved, changes; /* of that sample */
};

/* Takes the totals of the sample at @elapsed_ns. True: s->is_stalled is another now, about
 * s->begun_ns. */
bool stall_look(struct stall *s, uint64_t elapsed_ns, const struct account *totals);

#endif

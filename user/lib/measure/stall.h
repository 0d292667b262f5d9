/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a run is stalled: its processes are there, and for a time they have used less than a
 * share of a CPU, and moved next to no bytes. To begin a process is no work by itself: a loop that
 * waits for something does so, too.
 */
#ifndef MEASURE_STALL_H
#define MEASURE_STALL_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct stall_work {
	uint64_t cpu_ns, read_bytes, written_bytes;
};

struct stall {
	uint64_t after_ns;  /* 0: not asked for */
	uint64_t below_ppm; /* millionths of a CPU: what uses no more does nothing */
	bool is_stalled;
	bool is_reported;  /* and it has something to do, as far as that is known here */
	bool is_doubted;   /* it was busy at one look: a second one decides */
	uint64_t asked_ns; /* when that was found out last */
	uint64_t begun_ns; /* of the last stall: when it had begun, since the start of the run */
	uint64_t since_ns; /* the last sample before which something was done */
	uint64_t work_ns;  /* the sample that the next one is compared with: */
	struct stall_work work;
};

/* Takes the totals of the sample at @elapsed_ns. True: s->is_stalled is another now, about
 * s->begun_ns. */
bool stall_look(struct stall *s, uint64_t elapsed_ns, const struct account *totals);

#endif

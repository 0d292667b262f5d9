/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects a stalled run: for some time its live processes have used less than a share of a CPU, or
 * of a GPU, and moved almost no bytes. Starting processes is no work by itself: a polling loop does
 * so, too.
 */
#ifndef MEASURE_STALL_H
#define MEASURE_STALL_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct stall_work {
	uint64_t busy_ns; /* of CPUs and GPUs */
	uint64_t read_bytes, written_bytes;
};

struct stall {
	uint64_t after_ns;  /* time without work until a stall; 0: off */
	uint64_t below_ppm; /* CPU use that is no work, in millionths of a CPU */
	bool is_stalled;
	bool is_reported;    /* and its processes have work, as far as known */
	bool is_doubted;     /* seemed to hang at one sample; the next one decides */
	uint64_t checked_ns; /* elapsed time of the last report or check */
	uint64_t begun_ns;   /* elapsed time at which the last stall began */
	uint64_t since_ns;   /* elapsed time of the last sample with work before it */
	uint64_t work_ns;    /* sample that the next is compared with: */
	struct stall_work work;
};

/*
 * Compares the totals of the sample at @elapsed_ns, by which GPUs had worked for @gpu_ns. Returns
 * true if s->is_stalled has changed, as of s->begun_ns.
 */
bool stall_update(struct stall *s, uint64_t elapsed_ns, const struct account *totals,
		  uint64_t gpu_ns);

#endif

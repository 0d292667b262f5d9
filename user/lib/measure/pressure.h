/* SPDX-License-Identifier: BSD-2-Clause */
/* Pressure stall information (PSI) of the kernel: how long tasks have waited for a resource. */
#ifndef MEASURE_PRESSURE_H
#define MEASURE_PRESSURE_H

#include "run/sample.h"

#define HOST_MEMORY_PRESSURE "/proc/pressure/memory"

struct pressure {
	int fd;                        /* owned; -1: not open */
	uint64_t some_us, full_us;     /* last read */
	uint64_t some_0_us, full_0_us; /* when counting began */
};

/* Opens @path and begins to count. Returns 0, or a negative errno if it cannot be read. */
int pressure_open(struct pressure *p, const char *path);
void pressure_restart(struct pressure *p);
/* Sets the metrics @some and @full that are in @usable to the time waited since counting began. */
void pressure_read(struct pressure *p, const struct metric_set *usable, enum metric_id some,
		   enum metric_id full, struct sample *smp);
void pressure_done(struct pressure *p);

#endif

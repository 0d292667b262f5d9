/* SPDX-License-Identifier: BSD-2-Clause */
/* How long tasks have waited for a resource: the kernel's pressure stall information (PSI). */
#ifndef MEASURE_PRESSURE_H
#define MEASURE_PRESSURE_H

#include "run/sample.h"

#define HOST_MEMORY_PRESSURE "/proc/pressure/memory"

struct pressure {
	int fd;                        /* owned; -1: nothing is read */
	uint64_t some_us, full_us;     /* as last read */
	uint64_t some_0_us, full_0_us; /* when the counting began */
};

/* Opens @path and begins to count. A negative errno: it does not exist, or cannot be read. */
int pressure_open(struct pressure *p, const char *path);
/* Begins to count again, from 0. */
void pressure_restart(struct pressure *p);
/* Sets those of @some and @full that are in @usable to the time waited since then. */
void pressure_read(struct pressure *p, const struct metric_set *usable, enum metric_id some,
		   enum metric_id full, struct sample *smp);
void pressure_done(struct pressure *p);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* How the memory of a run went over its time, in few points. */
#ifndef RUN_MEMORY_SHAPE_H
#define RUN_MEMORY_SHAPE_H

#include "run/sample.h"

#define MEMORY_SHAPE_POINTS 256

/* All zero at the beginning. */
struct memory_shape {
	struct memory_point {
		uint64_t at_ns, rss_bytes;
	} point[MEMORY_SHAPE_POINTS];
	size_t nr;
	unsigned every, in_last; /* samples a point stands for; in the last one so far */
	uint64_t largest_bytes;
	bool has_anon;
	uint64_t anon_bytes; /* at the largest sample */
};

/* Takes the next sample; one without memory is left out. */
void memory_shape_add(struct memory_shape *m, const struct sample *smp);
/* The memory at a time, on straight lines between the points. Only where there are two or more. */
double memory_shape_at(const struct memory_shape *m, double at_ns);

#endif

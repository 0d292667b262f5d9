/* SPDX-License-Identifier: BSD-2-Clause */
/* How long requests to a device took, in one direction, as a histogram of powers of two. */
#ifndef RUN_BLOCK_LATENCY_H
#define RUN_BLOCK_LATENCY_H

#include "run/sample.h"

#define LATENCY_BUCKETS 40 /* number i has those from 2^i ns on, below 2^(i+1) */
#define LATENCY_DIRECTIONS 4
#define MAX_LATENCIES ((size_t)LATENCY_DIRECTIONS * (INSTANCES_SHOWN + 1))

struct block_latency {
	char device[INSTANCE_BYTES];
	unsigned direction; /* see latency_direction_name() */
	uint64_t count[LATENCY_BUCKETS];
};

/* All zero: none. In the order in which they were added; those of a device in a row. */
struct block_latencies {
	struct block_latency *all; /* owned */
	size_t nr;
};

/* "read", "write", "discard", "flush". */
const char *latency_direction_name(unsigned direction);
/* -ENOENT: no direction is called so. */
int latency_direction_find(const char *name, unsigned *direction);
/* The bucket whose upper bound is @ns; -ENOENT: there is none. */
int latency_bucket_find(uint64_t upper_ns, unsigned *bucket);
static inline uint64_t latency_upper_ns(unsigned bucket)
{
	return 2ULL << bucket;
}
/* That of @device and @direction, made if it is new; NULL: out of memory, or there are too many. */
struct block_latency *latencies_get(struct block_latencies *l, const char *device,
				    unsigned direction);
uint64_t latency_operations(const struct block_latency *l);
/* The upper bound of the bucket that has the operation at @percent; 0: there is none. */
uint64_t latency_percentile_ns(const struct block_latency *l, unsigned percent);
void latencies_done(struct block_latencies *l);

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "run/block_latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const directions[LATENCY_DIRECTIONS] = { "read", "write", "discard", "flush" };

const char *latency_direction_name(unsigned direction)
{
	return directions[direction];
}

int latency_direction_find(const char *name, unsigned *direction)
{
	for (unsigned i = 0; i < LATENCY_DIRECTIONS; i++) {
		if (strcmp(directions[i], name) != 0)
			continue;
		*direction = i;
		return 0;
	}
	return -ENOENT;
}

int latency_bucket_find(uint64_t upper_ns, unsigned *bucket)
{
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		if (latency_upper_ns(i) != upper_ns)
			continue;
		*bucket = i;
		return 0;
	}
	return -ENOENT;
}

struct block_latency *latencies_get(struct block_latencies *l, const char *device,
				    unsigned direction)
{
	struct block_latency *all;

	for (size_t i = 0; i < l->nr; i++)
		if (l->all[i].direction == direction && !strcmp(l->all[i].device, device))
			return &l->all[i];
	if (l->nr == MAX_LATENCIES)
		return NULL;
	all = reallocarray(l->all, l->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	l->all = all;
	all = &all[l->nr++];
	*all = (struct block_latency){ .direction = direction };
	snprintf(all->device, sizeof(all->device), "%s", device);
	return all;
}

uint64_t latency_operations(const struct block_latency *l)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		sum += l->count[i];
	return sum;
}

uint64_t latency_percentile_ns(const struct block_latency *l, unsigned percent)
{
	const uint64_t wanted = (latency_operations(l) * percent + 99) / 100;
	uint64_t sum = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		sum += l->count[i];
		if (sum && sum >= wanted)
			return latency_upper_ns(i);
	}
	return 0;
}

void latencies_done(struct block_latencies *l)
{
	free(l->all);
	*l = (struct block_latencies){ 0 };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* One reading of all metrics at one moment; what was not read is absent, not zero. */
#ifndef MODEL_SAMPLE_H
#define MODEL_SAMPLE_H

#include "model/metric.h"

/* A metric of one instance (core, device, cgroup ...) of a dimension. */
struct instance {
	const char *dimension; /* not owned: lives as long as the program */
	char name[32];
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

struct sample {
	uint64_t elapsed_ns; /* since the run's start */
	uint64_t value[NR_METRICS];
	struct metric_set have;
	struct instance *instances; /* owned; sorted by dimension */
	size_t nr_instances;
};

static inline bool sample_has(const struct sample *s, enum metric_id id)
{
	return metric_has(&s->have, id);
}

static inline void sample_set(struct sample *s, enum metric_id id, uint64_t value)
{
	s->value[id] = value;
	metric_put(&s->have, id);
}

/* Clears all values, and frees the memory of instances. */
void sample_reset(struct sample *s);
/* Makes @s stand for the time of both: the counters of @later, the largest gauges. */
void sample_cover(struct sample *s, const struct sample *later);
/* A new instance at the end, or NULL without memory. */
struct instance *sample_add_instance(struct sample *s, const char *dimension, const char *name);

#endif

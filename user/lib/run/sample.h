/* SPDX-License-Identifier: BSD-2-Clause */
/* One reading of all metrics at one moment; what was not read is absent, not zero. */
#ifndef RUN_SAMPLE_H
#define RUN_SAMPLE_H

#include "run/metric.h"

#define DIMENSION_BYTES 32
#define INSTANCE_BYTES 64       /* a name; an IPv6 address with its port takes 48 */
#define INSTANCES_SHOWN 64      /* of a dimension that has no bound of its own; see below */
#define MAX_INSTANCES 2048      /* that are read of a line; a file may have more */
#define OTHER_INSTANCES "other" /* the name of the sum of those that are not listed */

#define MAX_NET_PEERS 1000 /* that --net-peers may ask for */

#define SPAN_DIMENSION "span" /* of which a summary has none: spans have lines of their own */

/* The metrics of one instance (device, peer, span ...) of a dimension. */
struct instance {
	char dimension[DIMENSION_BYTES];
	char name[INSTANCE_BYTES];
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
/* A new instance at the end, or NULL without memory. A name that is too long is cut. */
struct instance *sample_add_instance(struct sample *s, const char *dimension, const char *name);
/*
 * Of those of @dimension that come last, as they do while they are added, keeps the @most with the
 * largest values of @id; the sum of the others is the instance OTHER_INSTANCES at their end.
 */
void sample_bound_instances(struct sample *s, const char *dimension, enum metric_id id,
			    size_t most);
/* Replaces the instances by those of @from, for each dimension that this has; of counters alone. */
void sample_take_counters(struct sample *s, const struct sample *from);

#endif

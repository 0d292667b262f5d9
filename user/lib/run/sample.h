/* SPDX-License-Identifier: BSD-2-Clause */
/* One reading of all metrics at one moment. Values that were not read are absent, not zero. */
#ifndef RUN_SAMPLE_H
#define RUN_SAMPLE_H

#include "run/metric.h"

#define DIMENSION_BYTES 32
#define INSTANCE_BYTES 64       /* size of a name; an IPv6 address with its port takes 48 */
#define INSTANCES_SHOWN 64      /* per dimension; see sample_bound_instances() */
#define MAX_INSTANCES 2048      /* read per line; a file may have more */
#define OTHER_INSTANCES "other" /* name of the sum of unlisted instances */

#define MAX_NET_PEERS 1000 /* maximum of --net-peers */

#define SPAN_DIMENSION "span" /* not in summaries: spans have lines of their own */

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

/* Clears all values and frees the instances. */
void sample_reset(struct sample *s);
/* Extends @s to cover the time up to @later: takes its counters and the maximum of gauges. */
void sample_cover(struct sample *s, const struct sample *later);
/*
 * Returns whether all values are equal but for the time and the lifetime of live threads, which
 * grows with it. Instances are not compared.
 */
bool sample_equals(const struct sample *a, const struct sample *b);
/* Appends an instance. Truncates a name that is too long. Returns NULL if memory runs out. */
struct instance *sample_add_instance(struct sample *s, const char *dimension, const char *name);
/*
 * Keeps only the @most instances of @dimension, which must be the last ones added, with the largest
 * values of @id. One instance OTHER_INSTANCES with the sum of the rest follows them.
 */
void sample_bound_instances(struct sample *s, const char *dimension, enum metric_id id,
			    size_t most);
/* Replaces the instances of each dimension that @from has by those of @from, with counters only. */
void sample_replace_instances(struct sample *s, const struct sample *from);

/*
 * Computes the cores in use over intervals long enough to measure. A sample for a mark, and the
 * last one, may follow another so closely that the metric reflects one tick rather than the run.
 */

/* CPU time advances in ticks: over a shorter interval cores cannot be measured. */
#define SHORTEST_FOR_CORES 5000000 /* in ns */

/* All zero at the beginning of a run, except for @cpus. */
struct cores {
	unsigned cpus;      /* of the machine, an upper bound; 0: unknown */
	uint64_t at_ns;     /* time of the previous sample */
	uint64_t cpu_ns;    /* total CPU time at that sample */
	uint64_t from_ns;   /* end of the last interval that was long enough; start of @busy */
	uint64_t before_ns; /* start of that interval */
	double busy;        /* thousandths of a core, times ns, since @from_ns */
	double busy_before; /* the same from @before_ns to @from_ns */
	bool has_before;
};

/*
 * Adds the next sample. Sets @milli to the cores in use since the previous sample; if that interval
 * is too short, since @from_ns; if that is too short as well, since @before_ns, so that all CPU
 * time is included. Returns false if there is no value yet.
 */
bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli);

/*
 * Computes the cores in use from a total: @cpu_ns had been used at @elapsed_ns, the start of its
 * drain. A drain commits each task as it visits it, so that the time between two commits of a task
 * is roughly that between the starts of two drains. Usage during a drain counts too: if @cpus is 0
 * the result may exceed the cores of the machine. In the first 5 ms the interval is that since the
 * previous sample. Returns false if no time has passed.
 */
bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli);

#endif

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

/*
 * The cores in use over a time that is long enough to measure. Samples for marks, and the last one,
 * may come so soon after another that the metric is more of a tick than of the run.
 */

/* CPU time advances by ticks: over a shorter time the number of busy cores cannot be measured */
#define SHORTEST_FOR_CORES 5000000 /* ns */

/* All zero at the beginning of a run, except for @cpus. */
struct cores {
	unsigned cpus;    /* of the machine, an upper limit; 0: not known */
	uint64_t at_ns;   /* of the sample before */
	uint64_t cpu_ns;  /* all CPU time by then */
	uint64_t from_ns; /* since when @busy counts: the end of the last time that was long enough
			   */
	uint64_t before_ns; /* when that began */
	double busy;        /* thousandths of a core, times ns */
	double busy_before; /* of the time from @before_ns to @from_ns */
	bool has_before;
};

/*
 * Takes the next sample. *@milli are the cores since the sample before; if that is too short a
 * time, since @from_ns; if that is, too, since @before_ns, so that no CPU time is left out. False:
 * there is no value, or not yet.
 */
bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli);

/*
 * The same for a total: by @elapsed_ns, when its drain began, @cpu_ns had been used. A drain
 * commits each task when it meets it: the time between two commits of a task is about that from the
 * beginning of one drain to that of the next. What is used during a drain counts, too: without
 * @cpus the result may exceed the cores of the machine. In the first 5 ms it is over the time since
 * the sample before. False: no time has passed.
 */
bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli);

#endif

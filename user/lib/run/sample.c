// SPDX-License-Identifier: BSD-2-Clause
#include "run/sample.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sample_reset(struct sample *s)
{
	free(s->instances);
	*s = (struct sample){ 0 };
}

struct instance *sample_add_instance(struct sample *s, const char *dimension, const char *name)
{
	struct instance *all, *i;

	all = memory_reallocarray(s->instances, s->nr_instances + 1, sizeof(*all));
	if (!all)
		return NULL;
	s->instances = all;
	i = &all[s->nr_instances++];
	*i = (struct instance){ 0 };
	snprintf(i->dimension, sizeof(i->dimension), "%s", dimension);
	snprintf(i->name, sizeof(i->name), "%s", name);
	return i;
}

static uint64_t instance_weight(const struct instance *i, enum metric_id id)
{
	return metric_has(&i->have, id) ? i->value[id] : 0;
}

static int instance_order(const void *a, const void *b, void *context)
{
	const enum metric_id *id = context;
	uint64_t p = instance_weight(a, *id), q = instance_weight(b, *id);

	return p != q ? (p < q ? 1 : -1)
		      : strcmp(((const struct instance *)a)->name,
			       ((const struct instance *)b)->name);
}

static void instance_add_up(struct instance *sum, const struct instance *i)
{
	for (size_t m = 0; m < NR_METRICS; m++)
		sum->value[m] += i->value[m];
	metric_set_join(&sum->have, &i->have);
}

void sample_bound_instances(struct sample *s, const char *dimension, enum metric_id id, size_t most)
{
	size_t first = s->nr_instances;
	struct instance *other;

	while (first && !strcmp(s->instances[first - 1].dimension, dimension))
		first--;
	if (s->nr_instances - first <= most)
		return;
	qsort_r(&s->instances[first], s->nr_instances - first, sizeof(*s->instances),
		instance_order, &id);
	other = &s->instances[first + most];
	snprintf(other->name, sizeof(other->name), "%s", OTHER_INSTANCES);
	for (size_t i = first + most + 1; i < s->nr_instances; i++)
		instance_add_up(other, &s->instances[i]);
	s->nr_instances = first + most + 1;
}

static bool sample_has_dimension(const struct sample *s, const char *dimension)
{
	for (size_t i = 0; i < s->nr_instances; i++)
		if (!strcmp(s->instances[i].dimension, dimension))
			return true;
	return false;
}

static void sample_copy_counters(struct sample *s, const struct instance *from)
{
	struct instance *to = sample_add_instance(s, from->dimension, from->name);

	for (int i = 0; to && i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!metric_has(&from->have, id) || metric_get(id)->kind != KIND_COUNTER)
			continue;
		to->value[i] = from->value[i];
		metric_put(&to->have, id);
	}
}

void sample_replace_instances(struct sample *s, const struct sample *from)
{
	size_t kept = 0;

	if (!from->nr_instances)
		return;
	for (size_t i = 0; i < s->nr_instances; i++)
		if (!sample_has_dimension(from, s->instances[i].dimension))
			s->instances[kept++] = s->instances[i];
	s->nr_instances = kept;
	for (size_t i = 0; i < from->nr_instances; i++)
		if (strcmp(from->instances[i].dimension, SPAN_DIMENSION) != 0)
			sample_copy_counters(s, &from->instances[i]);
}

void sample_cover(struct sample *s, const struct sample *later)
{
	s->elapsed_ns = later->elapsed_ns;
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (sample_has(later, id) && (metric_get(id)->kind == KIND_COUNTER ||
					      !sample_has(s, id) || later->value[i] > s->value[i]))
			sample_set(s, id, later->value[i]);
	}
}

bool sample_equals(const struct sample *a, const struct sample *b)
{
	const size_t before = M_lifetime * sizeof(*a->value);
	const size_t after = sizeof(a->value) - before - sizeof(*a->value);

	return !memcmp(&a->have, &b->have, sizeof(a->have)) &&
	       !memcmp(a->value, b->value, before) &&
	       !memcmp(&a->value[M_lifetime + 1], &b->value[M_lifetime + 1], after);
}

static void cores_restart(struct cores *c, uint64_t elapsed_ns)
{
	*c = (struct cores){
		.cpus = c->cpus,
		.at_ns = elapsed_ns,
		.from_ns = elapsed_ns,
		.cpu_ns = c->cpu_ns,
	};
}

/* Returns thousandths of a core, times ns. */
static double cores_busy_since(const struct cores *c, const struct sample *s)
{
	if (sample_has(s, M_cpu) && s->value[M_cpu] >= c->cpu_ns)
		return (double)(s->value[M_cpu] - c->cpu_ns) * 1000;
	return (double)s->value[M_cores] * (double)(s->elapsed_ns - c->at_ns);
}

static uint64_t cores_bound(const struct cores *c, uint64_t milli)
{
	return c->cpus && milli > c->cpus * 1000ULL ? c->cpus * 1000ULL : milli;
}

bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli)
{
	uint64_t took_ns = s->elapsed_ns - c->at_ns, since_ns = s->elapsed_ns - c->from_ns;

	if (s->elapsed_ns <= c->at_ns)
		return false;
	c->busy += cores_busy_since(c, s);
	c->cpu_ns = s->value[M_cpu];
	if (!sample_has(s, M_cores)) {
		cores_restart(c, s->elapsed_ns);
		return false;
	}
	c->at_ns = s->elapsed_ns;
	if (since_ns >= SHORTEST_FOR_CORES) {
		*milli = cores_bound(c, took_ns == since_ns
						? s->value[M_cores]
						: number_clamp(floor(c->busy / (double)since_ns)));
		c->before_ns = c->from_ns;
		c->busy_before = c->busy;
		c->from_ns = s->elapsed_ns;
		c->busy = 0;
		c->has_before = true;
		return true;
	}
	if (c->has_before)
		*milli =
			cores_bound(c, number_clamp(floor((c->busy_before + c->busy) /
							  (double)(s->elapsed_ns - c->before_ns))));
	return c->has_before;
}

bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli)
{
	struct sample raw = { .elapsed_ns = elapsed_ns };
	uint64_t used_ns = cpu_ns > c->cpu_ns ? cpu_ns - c->cpu_ns : 0;

	if (elapsed_ns <= c->at_ns)
		return false;
	sample_set(&raw, M_cpu, cpu_ns);
	sample_set(&raw, M_cores, used_ns * 1000 / (elapsed_ns - c->at_ns));
	if (!cores_add(c, &raw, milli))
		*milli = cores_bound(c, raw.value[M_cores]);
	return true;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/sample.h"

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

	all = reallocarray(s->instances, s->nr_instances + 1, sizeof(*all));
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

void sample_take_counters(struct sample *s, const struct sample *from)
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

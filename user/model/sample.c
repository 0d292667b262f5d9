// SPDX-License-Identifier: BSD-2-Clause
#include "model/sample.h"

#include <stdio.h>
#include <stdlib.h>

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
	*i = (struct instance){ .dimension = dimension };
	snprintf(i->name, sizeof(i->name), "%s", name);
	return i;
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

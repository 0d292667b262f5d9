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

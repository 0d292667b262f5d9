// SPDX-License-Identifier: BSD-2-Clause
/* The values of instances ("by") in the lines of samples and of the summary, read from the tree. */
#include "run/reader_parts.h"

#include <string.h>

/* A name that there is no room for is not cut: two could become one. */
static bool instance_fits(const char *dimension, const char *name)
{
	return *dimension && strlen(dimension) < DIMENSION_BYTES && strlen(name) < INSTANCE_BYTES;
}

static void dimension_read(const char *dimension, json_t *all, struct sample *s)
{
	struct instance *i;
	const char *name;
	json_t *v;

	json_object_foreach(all, name, v) {
		if (!json_is_object(v) || !instance_fits(dimension, name) ||
		    s->nr_instances == MAX_INSTANCES)
			continue;
		i = sample_add_instance(s, dimension, name);
		if (i)
			metrics_read(v, i->value, &i->have);
	}
}

void instances_read(const json_t *by, struct sample *s)
{
	const char *dimension;
	json_t *all;

	json_object_foreach((json_t *)by, dimension, all)
		dimension_read(dimension, all, s);
}

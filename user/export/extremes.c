// SPDX-License-Identifier: BSD-2-Clause
#include "export/extremes.h"

static void add_value(struct extremes *x, enum metric_id id, uint64_t v, uint64_t elapsed_ns)
{
	if (!metric_has(&x->have, id) || v > x->max[id]) {
		x->max[id] = v;
		x->max_at_ns[id] = elapsed_ns;
	}
	metric_put(&x->have, id);
	x->sum[id] += (double)v;
	x->count[id]++;
}

static int add_sample(void *context, struct line *l)
{
	struct extremes *x = context;
	const struct sample *s = &l->sample;
	uint64_t cores;
	bool has_cores = cores_add(&x->cores, s, &cores);

	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (id == M_cores ? has_cores : sample_has(s, id))
			add_value(x, id, id == M_cores ? cores : s->value[i], s->elapsed_ns);
	}
	return 0;
}

int extremes_find(struct extremes *x, const struct exporter *e)
{
	*x = (struct extremes){ .cores.cpus = (unsigned)export_system_number(e, "cpus") };
	return source_each(e->source, PART(LINE_SAMPLE), add_sample, x);
}

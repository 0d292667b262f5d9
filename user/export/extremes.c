// SPDX-License-Identifier: BSD-2-Clause
#include "export/extremes.h"

static int add_sample(void *context, struct line *l)
{
	struct extremes *x = context;
	const struct sample *s = &l->sample;

	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!sample_has(s, id))
			continue;
		if (!metric_has(&x->have, id) || s->value[i] > x->max[i]) {
			x->max[i] = s->value[i];
			x->max_at_ns[i] = s->elapsed_ns;
		}
		metric_put(&x->have, id);
		x->sum[i] += (double)s->value[i];
		x->count[i]++;
	}
	return 0;
}

int extremes_find(struct extremes *x, struct source *s)
{
	*x = (struct extremes){ 0 };
	return source_each(s, PART(LINE_SAMPLE), add_sample, x);
}

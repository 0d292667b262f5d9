// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/show_phases.h"

#include "source/marks.h"
#include "wire/writer.h"

static int phases_add_mark_line(void *context, struct line *l)
{
	marks_add(context, l);
	return 0;
}

static int phases_add_sample_line(void *context, struct line *l)
{
	phases_add_sample(context, &l->sample);
	return 0;
}

int phases_read(struct phases *p, struct source *s, uint64_t wall_ns)
{
	int err = source_each(s, PART(LINE_EVENT), phases_add_mark_line, p);

	if (!err)
		err = source_each(s, PART(LINE_SAMPLE), phases_add_sample_line, p);
	phases_finish(p, wall_ns);
	return err;
}

void phases_json(struct jsonw *j, const struct phases *p)
{
	jsonw_array(j, "phases");
	for (size_t i = 0; i < p->nr; i++) {
		const struct phase *ph = &p->all[i];

		jsonw_object(j, NULL);
		jsonw_string(j, "text", ph->text);
		jsonw_decimal(j, "start_seconds", ph->start_ns, 9);
		jsonw_decimal(j, "end_seconds", ph->end_ns, 9);
		if (ph->is_shared)
			jsonw_uint(j, "shared_with", ph->shared_with);
		else
			jsonw_uint(j, "samples", ph->samples);
		if (ph->nr_shared > 1) {
			jsonw_uint(j, "shared_phases", ph->nr_shared);
			jsonw_decimal(j, "shared_end_seconds", ph[ph->nr_shared - 1].end_ns, 9);
		}
		for (int m = 0; m < NR_METRICS; m++)
			if (metric_has(&ph->have, (enum metric_id)m))
				jsonw_decimal(j, metric_get((enum metric_id)m)->key, ph->value[m],
					      metric_decimals((enum metric_id)m));
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_uint(j, "marks_left_out", p->left_out);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/show_phases.h"

#include "run/phase.h"
#include "run/writer.h"

#include <errno.h>

static void phase_values_json(struct jsonw *j, const struct metric_set *have, const uint64_t *value)
{
	for (int m = 0; m < NR_METRICS; m++)
		if (metric_has(have, (enum metric_id)m))
			jsonw_decimal(j, metric_get((enum metric_id)m)->key, value[m],
				      metric_decimals((enum metric_id)m));
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
		phase_values_json(j, &ph->have, ph->value);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_uint(j, "marks_left_out", p->left_out);
}

static void phase_sum_json(struct jsonw *j, const struct phase_sum *sum)
{
	jsonw_uint(j, "count", sum->nr);
	jsonw_decimal(j, "wall_seconds", sum->ns, 9);
	if (sum->nr_shared)
		jsonw_uint(j, "shared_phases", sum->nr_shared);
	phase_values_json(j, &sum->have, sum->value);
}

int phase_sums_json(struct jsonw *j, const struct phases *p)
{
	struct phase_sums sums;
	int err = phase_sums_make(&sums, p);

	jsonw_array(j, "phase_names");
	for (size_t i = 0; !err && i < sums.nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "text", sums.all[i].text);
		phase_sum_json(j, &sums.all[i]);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	if (!err && sums.shared.nr) {
		jsonw_object(j, "phases_shared");
		phase_sum_json(j, &sums.shared);
		jsonw_object_end(j);
	}
	phase_sums_done(&sums);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "report/phases.h"

#include "report/excerpt.h"

#define TEXT_SHOWN 200 /* bytes of a mark's text */

static const enum metric_id shown[] = { M_cpu, M_user, M_system, M_rss, M_read, M_write, M_forks };
#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

void phases_add_metrics(struct metric_set *set)
{
	for (size_t i = 0; i < NR_SHOWN; i++)
		metric_put(set, shown[i]);
}

static void phase_write(struct jsonw *j, const struct phase *ph)
{
	json_t *text = ph->text ? json_string(ph->text) : json_null();

	jsonw_array(j, NULL);
	excerpt_write(j, NULL, text, TEXT_SHOWN, 0);
	json_decref(text);
	jsonw_decimal(j, NULL, ph->start_ns, 9);
	jsonw_decimal(j, NULL, ph->end_ns, 9);
	if (ph->is_shared)
		jsonw_uint(j, NULL, ph->shared_with);
	else
		jsonw_null(j, NULL);
	jsonw_uint(j, NULL, ph->nr_shared);
	jsonw_decimal(j, NULL, ph->is_shared ? ph->end_ns : ph[ph->nr_shared - 1].end_ns, 9);
	for (size_t i = 0; i < NR_SHOWN; i++) {
		if (metric_has(&ph->have, shown[i]))
			jsonw_decimal(j, NULL, ph->value[shown[i]], metric_decimals(shown[i]));
		else
			jsonw_null(j, NULL);
	}
	jsonw_array_end(j);
}

void phases_write(const struct phases *p, struct jsonw *j)
{
	if (p->nr < 2)
		return;
	jsonw_object(j, "phases");
	jsonw_uint(j, "total", p->nr);
	jsonw_uint(j, "left_out", p->left_out);
	jsonw_array(j, "fields");
	jsonw_string(j, NULL, "text");
	jsonw_string(j, NULL, "start");
	jsonw_string(j, NULL, "end");
	jsonw_string(j, NULL, "shared_with");
	jsonw_string(j, NULL, "shared_phases");
	jsonw_string(j, NULL, "shared_end");
	for (size_t i = 0; i < NR_SHOWN; i++)
		jsonw_string(j, NULL, metric_get(shown[i])->key);
	jsonw_array_end(j);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < p->nr && i < PHASES_SHOWN; i++)
		phase_write(j, &p->all[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

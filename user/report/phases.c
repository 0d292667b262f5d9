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

static void phase_write(struct json *j, const struct phase *ph)
{
	json_t *text = ph->text ? json_string(ph->text) : json_null();

	jw_array(j, NULL);
	excerpt_write(j, NULL, text, TEXT_SHOWN, 0);
	json_decref(text);
	jw_decimal(j, NULL, ph->start_ns, 9);
	jw_decimal(j, NULL, ph->end_ns, 9);
	if (ph->is_shared)
		jw_uint(j, NULL, ph->shared_with);
	else
		jw_null(j, NULL);
	jw_uint(j, NULL, ph->nr_shared);
	jw_decimal(j, NULL, ph->is_shared ? ph->end_ns : ph[ph->nr_shared - 1].end_ns, 9);
	for (size_t i = 0; i < NR_SHOWN; i++) {
		if (metric_has(&ph->have, shown[i]))
			jw_decimal(j, NULL, ph->value[shown[i]], metric_decimals(shown[i]));
		else
			jw_null(j, NULL);
	}
	jw_array_end(j);
}

void phases_write(const struct phases *p, struct json *j)
{
	if (p->nr < 2)
		return;
	jw_object(j, "phases");
	jw_uint(j, "total", p->nr);
	jw_uint(j, "left_out", p->left_out);
	jw_array(j, "fields");
	jw_string(j, NULL, "text");
	jw_string(j, NULL, "start");
	jw_string(j, NULL, "end");
	jw_string(j, NULL, "shared_with");
	jw_string(j, NULL, "shared_phases");
	jw_string(j, NULL, "shared_end");
	for (size_t i = 0; i < NR_SHOWN; i++)
		jw_string(j, NULL, metric_get(shown[i])->key);
	jw_array_end(j);
	jw_array(j, "rows");
	for (size_t i = 0; i < p->nr && i < PHASES_SHOWN; i++)
		phase_write(j, &p->all[i]);
	jw_array_end(j);
	jw_object_end(j);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "export/influx_point.h"

#include "export/influx_text.h"

#include <errno.h>

void influx_begin_field(struct exporter *e, bool *is_first, const char *key)
{
	buffer_puts(&e->text, *is_first ? " " : ",");
	*is_first = false;
	influx_put_key(&e->text, key);
	buffer_puts(&e->text, "=");
}

void influx_put_decimal(struct exporter *e, bool *is_first, const char *key, uint64_t v,
			unsigned decimals)
{
	if (!decimals && v > INT64_MAX) /* InfluxDB's integers are signed */
		return;
	influx_begin_field(e, is_first, key);
	buffer_put_decimal(&e->text, v, decimals);
	if (!decimals)
		buffer_puts(&e->text, "i");
}

void influx_put_metrics(struct exporter *e, bool *is_first, const uint64_t *value,
			const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			influx_put_decimal(e, is_first, metric_get((enum metric_id)i)->key,
					   value[i], metric_decimals((enum metric_id)i));
}

void influx_begin_point(struct exporter *e, const char *measurement)
{
	const struct influx *x = e->state;

	buffer_puts(&e->text, measurement);
	buffer_put(&e->text, x->tags.text.text, x->tags.text.used);
}

int influx_end_point(struct exporter *e, uint64_t epoch_ns)
{
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, epoch_ns < INFLUX_LAST_NS ? epoch_ns : INFLUX_LAST_NS, 0);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

int influx_end_point_near(struct exporter *e, uint64_t epoch_ns)
{
	struct influx *x = e->state;
	uint64_t at_ns = influx_times_next(&x->times, epoch_ns);

	return at_ns ? influx_end_point(e, at_ns) : -EOVERFLOW;
}

uint64_t influx_run_end(const struct exporter *e)
{
	return e->start_epoch_ns + e->total.wall_ns / 1000 * 1000;
}

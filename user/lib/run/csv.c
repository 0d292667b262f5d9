// SPDX-License-Identifier: BSD-2-Clause
#include "run/csv.h"

void csv_header(struct buffer *t, const struct metric_set *columns)
{
	buffer_puts(t, "time,elapsed_seconds");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		buffer_puts(t, ",");
		buffer_puts(t, metric_get((enum metric_id)i)->key);
	}
	buffer_puts(t, "\n");
}

void csv_row(struct buffer *t, const struct metric_set *columns, uint64_t start_epoch_ns,
	     const struct sample *s)
{
	buffer_put_decimal(t, (start_epoch_ns + s->elapsed_ns) / 1000, 6);
	buffer_puts(t, ",");
	buffer_put_decimal(t, s->elapsed_ns, 9);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!metric_has(columns, id))
			continue;
		buffer_puts(t, ",");
		if (sample_has(s, id))
			buffer_put_decimal(t, s->value[i], metric_decimals(id));
	}
	buffer_puts(t, "\n");
}

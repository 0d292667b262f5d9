// SPDX-License-Identifier: BSD-2-Clause
/* CSV (RFC 4180): the samples, a column a metric. An empty cell means "not read". */
#include "record/sink.h"

#include "base/json.h"

#include <string.h>

static void put(struct sink *s, const char *text)
{
	output_put(&s->out, text, strlen(text));
}

static void header(struct sink *s, const struct metric_set *columns)
{
	s->columns = *columns;
	s->has_header = true;
	put(s, "time,elapsed_seconds");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		put(s, ",");
		put(s, metric_get((enum metric_id)i)->key);
	}
	put(s, "\r\n");
}

static void row(struct sink *s, const struct line *l)
{
	char cell[32];

	decimal_format(cell, (l->start_epoch_ns + l->sample.elapsed_ns) / 1000, 6);
	put(s, cell);
	put(s, ",");
	decimal_format(cell, l->sample.elapsed_ns, 9);
	put(s, cell);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!metric_has(&s->columns, id))
			continue;
		put(s, ",");
		if (!sample_has(&l->sample, id))
			continue;
		decimal_format(cell, l->sample.value[i], metric_decimals(id));
		put(s, cell);
	}
	put(s, "\r\n");
}

static void csv_line(struct sink *s, const struct line *l, const char *text, size_t length)
{
	(void)text, (void)length;
	if (l->kind == LINE_META)
		header(s, &l->wanted);
	else if (l->kind == LINE_SAMPLE && s->has_header)
		row(s, l);
}

const struct sink_ops csv_sink = {
	.name = "csv",
	.extension = ".csv",
	.line = csv_line,
};

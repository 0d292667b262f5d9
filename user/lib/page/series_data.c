// SPDX-License-Identifier: BSD-2-Clause
/* Pushed values, as the page's data. */
#include "page/series.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "page/excerpt.h"

#include <errno.h>
#include <math.h>

#define TEXT_SHOWN 120 /* bytes of a name, a key or a value */
#define NAMED 20       /* of the series that are not drawn */

static int point_compare_time(const void *a, const void *b)
{
	const struct downsampler_row *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Lines may stand in another order than they were sent in. No two points may have the same time. */
static void series_write_times(struct jsonw *j, struct downsampler_row *rows, size_t nr)
{
	uint64_t us, last = 0;

	qsort(rows, nr, sizeof(*rows), point_compare_time);
	jsonw_array(j, "time");
	for (size_t i = 0; i < nr; i++) {
		us = number_clamp(rows[i].seconds * 1e6);
		if (i && us <= last)
			us = last + 1;
		jsonw_decimal(j, NULL, us, 6);
		last = us;
	}
	jsonw_array_end(j);
}

static int series_write_curve(struct jsonw *j, const struct series *s)
{
	size_t nr;
	__cleanup(freep) struct downsampler_row *rows = downsampler_get_rows(&s->sampler, &nr);

	if (!rows)
		return -ENOMEM;
	jsonw_object(j, NULL);
	excerpt_write(j, "tags", json_array_get(s->identity, 2), TEXT_SHOWN, 0);
	jsonw_uint(j, "points", s->points);
	jsonw_uint(j, "each", s->sampler.each);
	jsonw_bool(j, "boolean", !s->is_number);
	series_write_times(j, rows, nr);
	jsonw_array(j, "values");
	for (size_t i = 0; i < nr; i++)
		jsonw_double(j, NULL, rows[i].value[0]);
	jsonw_array_end(j);
	jsonw_object_end(j);
	return 0;
}

static void series_write_name(struct jsonw *j, const struct series *s)
{
	excerpt_write(j, "name", json_array_get(s->identity, 0), TEXT_SHOWN, 0);
	excerpt_write(j, "field", json_array_get(s->identity, 1), TEXT_SHOWN, 0);
}

static int series_write_chart(struct jsonw *j, const struct series_chart *chart)
{
	int err = 0;

	jsonw_object(j, NULL);
	series_write_name(j, chart->curve[0]);
	jsonw_array(j, "series");
	for (size_t i = 0; !err && i < chart->nr; i++)
		err = series_write_curve(j, chart->curve[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
	return err;
}

static uint64_t series_count_undrawn(const struct series *s)
{
	return s->is_drawn ? 0 : s->points;
}

static uint64_t series_count_texts(const struct series *s)
{
	return s->texts;
}

/* Series of which @count is not 0: the first ones, the number of all, and the sum of @count. */
static void series_write_rest(const struct report_series *p, struct jsonw *j, const char *key,
			      uint64_t (*count)(const struct series *s))
{
	uint64_t series = 0, values = 0;

	jsonw_object(j, key);
	jsonw_array(j, "named");
	for (size_t i = 0; i < p->nr; i++) {
		const struct series *s = &p->all[i];

		values += count(s);
		if (!count(s) || series++ >= NAMED)
			continue;
		jsonw_object(j, NULL);
		series_write_name(j, s);
		excerpt_write(j, "tags", json_array_get(s->identity, 2), TEXT_SHOWN, 0);
		jsonw_uint(j, "values", count(s));
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_uint(j, "series", series);
	jsonw_uint(j, "values", values);
	jsonw_object_end(j);
}

int series_write(const struct report_series *p, struct jsonw *j)
{
	int err = 0;

	if (!p->nr && !p->others)
		return 0;
	jsonw_object(j, "pushed");
	jsonw_array(j, "charts");
	for (size_t i = 0; !err && i < p->nr_charts; i++)
		err = series_write_chart(j, &p->chart[i]);
	jsonw_array_end(j);
	series_write_rest(p, j, "left_out", series_count_undrawn);
	series_write_rest(p, j, "texts", series_count_texts);
	jsonw_uint(j, "others", p->others);
	jsonw_object_end(j);
	return err;
}

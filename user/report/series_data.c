// SPDX-License-Identifier: BSD-2-Clause
/* Pushed values, as the page's data. */
#include "report/series.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "report/excerpt.h"

#include <errno.h>
#include <math.h>

#define TEXT_SHOWN 120 /* bytes of a name, a key or a value */
#define NAMED 20       /* of the series that are not drawn */

static int point_compare_time(const void *a, const void *b)
{
	const struct thin_row *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Lines may stand in another order than they were sent in. No two points may have the same time. */
static void series_write_times(struct json *j, struct thin_row *rows, size_t nr)
{
	uint64_t us, last = 0;

	qsort(rows, nr, sizeof(*rows), point_compare_time);
	jw_array(j, "time");
	for (size_t i = 0; i < nr; i++) {
		us = number_nearest(rows[i].seconds * 1e6);
		if (i && us <= last)
			us = last + 1;
		jw_decimal(j, NULL, us, 6);
		last = us;
	}
	jw_array_end(j);
}

static int series_write_curve(struct json *j, const struct series *s)
{
	size_t nr;
	__cleanup(freep) struct thin_row *rows = thin_rows(&s->thin, &nr);

	if (!rows)
		return -ENOMEM;
	jw_object(j, NULL);
	excerpt_write(j, "tags", json_array_get(s->identity, 2), TEXT_SHOWN, 0);
	jw_uint(j, "points", s->points);
	jw_uint(j, "each", s->thin.each);
	jw_bool(j, "boolean", !s->is_number);
	series_write_times(j, rows, nr);
	jw_array(j, "values");
	for (size_t i = 0; i < nr; i++)
		jw_double(j, NULL, rows[i].value[0]);
	jw_array_end(j);
	jw_object_end(j);
	return 0;
}

static void series_write_name(struct json *j, const struct series *s)
{
	excerpt_write(j, "name", json_array_get(s->identity, 0), TEXT_SHOWN, 0);
	excerpt_write(j, "field", json_array_get(s->identity, 1), TEXT_SHOWN, 0);
}

static int series_write_chart(struct json *j, const struct series_chart *chart)
{
	int err = 0;

	jw_object(j, NULL);
	series_write_name(j, chart->curve[0]);
	jw_array(j, "series");
	for (size_t i = 0; !err && i < chart->nr; i++)
		err = series_write_curve(j, chart->curve[i]);
	jw_array_end(j);
	jw_object_end(j);
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
static void series_write_rest(const struct report_series *p, struct json *j, const char *key,
			      uint64_t (*count)(const struct series *s))
{
	uint64_t series = 0, values = 0;

	jw_object(j, key);
	jw_array(j, "named");
	for (size_t i = 0; i < p->nr; i++) {
		const struct series *s = &p->all[i];

		values += count(s);
		if (!count(s) || series++ >= NAMED)
			continue;
		jw_object(j, NULL);
		series_write_name(j, s);
		excerpt_write(j, "tags", json_array_get(s->identity, 2), TEXT_SHOWN, 0);
		jw_uint(j, "values", count(s));
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_uint(j, "series", series);
	jw_uint(j, "values", values);
	jw_object_end(j);
}

int series_write(const struct report_series *p, struct json *j)
{
	int err = 0;

	if (!p->nr && !p->others)
		return 0;
	jw_object(j, "pushed");
	jw_array(j, "charts");
	for (size_t i = 0; !err && i < p->nr_charts; i++)
		err = series_write_chart(j, &p->chart[i]);
	jw_array_end(j);
	series_write_rest(p, j, "left_out", series_count_undrawn);
	series_write_rest(p, j, "texts", series_count_texts);
	jw_uint(j, "others", p->others);
	jw_object_end(j);
	return err;
}

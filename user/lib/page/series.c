// SPDX-License-Identifier: BSD-2-Clause
#include "page/series.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/number.h"
#include "page/excerpt.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ROOM 12288                /* buckets of all curves; limits the size of the page */
#define ROOM_OF_ONE 1024          /* buckets of one curve */
#define SERIES_BYTES (16UL << 20) /* of all identities */
#define LARGEST 1e30              /* limit of drawable values */
#define APART 1e-6                /* s, the resolution of times in the page */

void series_done(struct report_series *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		json_decref(p->all[i].identity);
		downsampler_done(&p->all[i].sampler);
	}
	free(p->all);
	json_decref(p->index);
	*p = (struct report_series){ 0 };
}

static struct series *series_append(struct report_series *p, json_t *identity)
{
	size_t room = p->room ? p->room * 2 : 16;
	struct series *all;

	if (p->nr == p->room) {
		all = memory_reallocarray(p->all, room, sizeof(*all));
		if (!all)
			return NULL;
		p->all = all;
		p->room = room;
	}
	p->all[p->nr] = (struct series){ .identity = json_incref(identity),
					 .place = p->nr,
					 .last_seconds = NAN };
	return &p->all[p->nr++];
}

/* Starts the key of a series with name, tags and a newline, which compact JSON never contains. */
static int series_start_key(struct buffer *key, json_t *name, json_t *tags)
{
	json_t *pair = json_pack("[OO]", name, tags);
	char *text = pair ? json_dumps(pair, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	if (text)
		buffer_printf(key, "%s\n", text);
	json_decref(pair);
	free(text);
	return text && !key->failed ? 0 : -ENOMEM;
}

/* Adds the series @identity under @key. *@s stays NULL if there are too many. */
static int series_create(struct report_series *p, const struct buffer *key, json_t *identity,
			 struct series **s)
{
	if (!identity)
		return -ENOMEM;
	if (p->nr == SERIES_MAX || p->bytes + key->used > SERIES_BYTES)
		return 0;
	if (!p->index)
		p->index = json_object();
	if (json_object_set_new(p->index, key->text, json_integer((json_int_t)p->nr)))
		return -ENOMEM;
	p->bytes += key->used;
	*s = series_append(p, identity);
	return *s ? 0 : -ENOMEM;
}

static struct series *series_find(const struct report_series *p, const struct buffer *key)
{
	const json_t *place = json_object_get(p->index, key->text);

	return place ? &p->all[json_integer_value(place)] : NULL;
}

static bool value_is_drawable(const json_t *v)
{
	return json_is_boolean(v) || (json_is_number(v) && fabs(json_number_value(v)) <= LARGEST);
}

static void series_count_value(struct report_series *p, struct series *s, const json_t *v)
{
	if (!s) {
		p->others++;
	} else if (value_is_drawable(v)) {
		s->points++;
		s->is_number |= json_is_number(v);
	} else {
		s->texts++;
	}
}

/* Points of one datagram have the same time, so they are drawn side by side in their order. */
static void series_keep_value(struct series *s, double seconds, const json_t *v)
{
	struct downsampler_row row = { 0 };

	if (!s || !s->is_drawn || !value_is_drawable(v))
		return;
	s->again = seconds == s->last_seconds ? s->again + 1 : 0;
	s->last_seconds = seconds;
	row.seconds = seconds + s->again * APART;
	row.value[0] = json_is_boolean(v) ? json_is_true(v) : json_number_value(v);
	downsampler_add(&s->sampler, &row, 1);
}

struct pushed_line {
	json_t *name, *fields, *tags;
	double seconds;
	bool is_counted; /* second pass */
};

static int series_take_value(struct report_series *p, const struct pushed_line *l,
			     const char *field, const json_t *v, const struct buffer *key)
{
	struct series *s = series_find(p, key);
	json_t *identity;
	int err = 0;

	if (l->is_counted) {
		series_keep_value(s, l->seconds, v);
		return 0;
	}
	if (!s) {
		identity = json_pack("[OsO]", l->name, field, l->tags);
		err = series_create(p, key, identity, &s);
		json_decref(identity);
	}
	if (!err)
		series_count_value(p, s, v);
	return err;
}

static int series_take_fields(struct report_series *p, const struct pushed_line *l)
{
	struct buffer key = { 0 };
	int err = series_start_key(&key, l->name, l->tags);
	size_t start = key.used;
	const char *field;
	json_t *v;

	json_object_foreach(l->fields, field, v) {
		if (err)
			break;
		key.used = start;
		buffer_put(&key, field, strlen(field) + 1);
		err = key.failed ? -ENOMEM : series_take_value(p, l, field, v, &key);
	}
	buffer_done(&key);
	return err;
}

static int series_take_line(struct report_series *p, const struct line *l, bool is_counted)
{
	const json_t *elapsed = json_object_get(l->tree, "elapsed_seconds");
	const struct pushed_line of = {
		.name = json_object_get(l->tree, "name"),
		.fields = json_object_get(l->tree, "fields"),
		.tags = json_object_get(l->tree, "tags"),
		.seconds = json_number_value(elapsed),
		.is_counted = is_counted,
	};

	if (!json_is_string(of.name) || !json_is_object(of.tags) || !json_is_number(elapsed))
		return 0; /* not written by bpfmon */
	return series_take_fields(p, &of);
}

int series_count(struct report_series *p, const struct line *l)
{
	return series_take_line(p, l, false);
}

int series_add(struct report_series *p, const struct line *l)
{
	return series_take_line(p, l, true);
}

static int name_compare(const json_t *a, const json_t *b)
{
	size_t n = json_string_length(a), m = json_string_length(b);
	int order = memcmp(json_string_value(a), json_string_value(b), n < m ? n : m);

	return order ? order : (n > m) - (n < m);
}

static int series_compare_charts(const struct series *a, const struct series *b)
{
	int order = name_compare(json_array_get(a->identity, 0), json_array_get(b->identity, 0));

	return order ? order
		     : name_compare(json_array_get(a->identity, 1), json_array_get(b->identity, 1));
}

/* Sorts by chart, then by decreasing number of points, then by first occurrence. */
static int series_compare(const void *a, const void *b)
{
	const struct series *x = *(struct series *const *)a, *y = *(struct series *const *)b;
	int order = series_compare_charts(x, y);

	if (order)
		return order;
	if (x->points != y->points)
		return x->points > y->points ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static bool chart_comes_before(const struct series_chart *a, const struct series_chart *b)
{
	return a->points != b->points ? a->points > b->points : a->place < b->place;
}

/* Inserts @chart if it is among those with the most points. */
static void series_insert_chart(struct report_series *p, const struct series_chart *chart)
{
	size_t at = p->nr_charts;

	while (at && chart_comes_before(chart, &p->chart[at - 1]))
		at--;
	if (at == SERIES_CHARTS)
		return;
	if (p->nr_charts < SERIES_CHARTS)
		p->nr_charts++;
	memmove(&p->chart[at + 1], &p->chart[at], (p->nr_charts - 1 - at) * sizeof(*chart));
	p->chart[at] = *chart;
}

static void series_make_charts(struct report_series *p, struct series **order)
{
	for (size_t i = 0, next; i < p->nr; i = next) {
		struct series_chart chart = { .place = order[i]->place };

		for (next = i; next < p->nr && !series_compare_charts(order[i], order[next]);
		     next++) {
			chart.points += order[next]->points;
			if (order[next]->place < chart.place)
				chart.place = order[next]->place;
			if (chart.nr < SERIES_CURVES && order[next]->points)
				chart.curve[chart.nr++] = order[next];
		}
		if (chart.nr)
			series_insert_chart(p, &chart);
	}
}

static int series_divide_room(struct report_series *p)
{
	size_t curves = 0, room;

	for (size_t i = 0; i < p->nr_charts; i++)
		curves += p->chart[i].nr;
	room = curves ? ROOM / curves & ~1UL : 0;
	if (room > ROOM_OF_ONE)
		room = ROOM_OF_ONE;
	for (size_t i = 0; i < p->nr_charts; i++)
		for (size_t k = 0; k < p->chart[i].nr; k++) {
			if (downsampler_init(&p->chart[i].curve[k]->sampler, 1, room))
				return -ENOMEM;
			p->chart[i].curve[k]->is_drawn = true;
		}
	return 0;
}

int series_choose(struct report_series *p)
{
	__cleanup(freep) struct series **order = memory_calloc(p->nr + 1, sizeof(struct series *));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		order[i] = &p->all[i];
	qsort(order, p->nr, sizeof(struct series *), series_compare);
	series_make_charts(p, order);
	return series_divide_room(p);
}

#define TEXT_SHOWN 120 /* bytes of a name, key or value */
#define NAMED 20       /* maximum number of series listed as not drawn */

static int point_compare_time(const void *a, const void *b)
{
	const struct downsampler_bucket *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Sorts, as lines may not be in the order of their times, and makes the times distinct. */
static void series_write_times(struct jsonw *j, struct downsampler_bucket *points, size_t nr)
{
	uint64_t us, last = 0;

	qsort(points, nr, sizeof(*points), point_compare_time);
	jsonw_array(j, "time");
	for (size_t i = 0; i < nr; i++) {
		us = number_clamp(points[i].seconds * 1e6);
		if (i && us <= last)
			us = last + 1;
		jsonw_decimal(j, NULL, us, 6);
		last = us;
	}
	jsonw_array_end(j);
}

static void series_write_values(struct jsonw *j, const char *key,
				const struct downsampler_bucket *points, size_t nr,
				enum bucket_value kind)
{
	jsonw_array(j, key);
	for (size_t i = 0; i < nr; i++)
		jsonw_double(j, NULL, points[i].value[kind][0]);
	jsonw_array_end(j);
}

static int series_write_curve(struct jsonw *j, const struct series *s)
{
	size_t nr;
	__cleanup(freep) struct downsampler_bucket *points = downsampler_get(&s->sampler, &nr);

	if (!points)
		return -ENOMEM;
	jsonw_object(j, NULL);
	excerpt_write(j, "tags", json_array_get(s->identity, 2), TEXT_SHOWN, 0);
	jsonw_uint(j, "points", s->points);
	jsonw_uint(j, "each", s->sampler.each);
	jsonw_bool(j, "boolean", !s->is_number);
	series_write_times(j, points, nr);
	series_write_values(j, "values", points, nr, BUCKET_MEAN);
	if (s->sampler.each > 1) {
		series_write_values(j, "least", points, nr, BUCKET_LEAST);
		series_write_values(j, "most", points, nr, BUCKET_MOST);
	}
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

/* Writes the series whose @count is not 0: the first few, their number, and the sum of counts. */
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

// SPDX-License-Identifier: BSD-2-Clause
#include "text/instances_text.h"

#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_SHOWN 10
#define NAME_COLUMNS 34
#define LEAST_NAME 16 /* where the line is narrow */
#define LEAST_COLUMN 10
#define MOST_COLUMNS 6
#define BAR_COLUMNS 40

/* The instances of one dimension, which are in a row. */
struct dimension {
	const struct instance *first;
	size_t nr;
};

struct value_columns {
	enum metric_id id[MOST_COLUMNS];
	size_t nr, name;
};

/* The key without its unit, which the values have. */
static int title_columns(enum metric_id id)
{
	const struct metric *m = metric_get(id);
	size_t n = strlen(m->key), unit = strlen(metric_unit_word(m->unit));

	if (unit && n > unit && !strcmp(m->key + n - unit, metric_unit_word(m->unit)))
		n -= unit + 1;
	return (int)n;
}

static int column_width(enum metric_id id)
{
	return title_columns(id) > LEAST_COLUMN ? title_columns(id) : LEAST_COLUMN;
}

static bool dimension_has(const struct dimension *d, enum metric_id id)
{
	for (size_t i = 0; i < d->nr; i++)
		if (metric_has(&d->first[i].have, id) && d->first[i].value[id])
			return true;
	return false;
}

static void value_columns_choose(const struct dimension *d, size_t width, struct value_columns *c)
{
	size_t used = 2 + LEAST_NAME;

	c->nr = 0;
	for (int i = 0; i < NR_METRICS && c->nr < MOST_COLUMNS; i++) {
		enum metric_id id = (enum metric_id)i;
		size_t takes = 2 + (size_t)column_width(id);

		if (!dimension_has(d, id) || (width && used + takes > width))
			continue;
		c->id[c->nr++] = id;
		used += takes;
	}
	c->name = width && width < used + NAME_COLUMNS - LEAST_NAME ? LEAST_NAME : NAME_COLUMNS;
}

static const char *value_format(char *out, enum metric_id id, uint64_t value)
{
	switch (metric_get(id)->unit) {
	case UNIT_BYTES:
		return format_bytes(out, value);
	case UNIT_NS:
		return format_seconds(out, value);
	default:
		return format_count(out, value);
	}
}

static void instance_put_row(FILE *f, const struct instance *i, const char *name,
			     const struct value_columns *c)
{
	char a[FORMAT_BYTES];

	fputs("  ", f);
	format_padded(f, name, c->name);
	for (size_t at = 0; at < c->nr; at++)
		fprintf(f, "  %*s", column_width(c->id[at]),
			metric_has(&i->have, c->id[at])
				? value_format(a, c->id[at], i->value[c->id[at]])
				: "-");
	fputc('\n', f);
}

static void instance_add(struct instance *sum, const struct instance *i)
{
	for (size_t m = 0; m < NR_METRICS; m++)
		sum->value[m] += i->value[m];
	metric_set_join(&sum->have, &i->have);
}

static void dimension_put(FILE *f, const struct dimension *d, size_t width)
{
	size_t shown = d->nr <= ROWS_SHOWN + 1 ? d->nr : ROWS_SHOWN;
	struct instance others = { 0 };
	struct value_columns c;
	char name[64];

	value_columns_choose(d, width, &c);
	if (!c.nr)
		return;
	fputs("\n  ", f);
	format_padded(f, d->first->dimension, c.name);
	for (size_t i = 0; i < c.nr; i++)
		fprintf(f, "  %*.*s", column_width(c.id[i]), title_columns(c.id[i]),
			metric_get(c.id[i])->key);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		instance_put_row(f, &d->first[i], d->first[i].name, &c);
	for (size_t i = shown; i < d->nr; i++)
		instance_add(&others, &d->first[i]);
	snprintf(name, sizeof(name), "others (%zu)", d->nr - shown);
	if (shown < d->nr)
		instance_put_row(f, &others, name, &c);
}

void instances_text(FILE *f, const struct summary *s, size_t width)
{
	const struct instance *all = s->total.instances;
	struct dimension d = { .first = all };

	for (size_t i = 0; i < s->total.nr_instances; i++) {
		if (strcmp(all[i].dimension, d.first->dimension) != 0) {
			dimension_put(f, &d, width);
			d = (struct dimension){ .first = &all[i] };
		}
		d.nr++;
	}
	if (d.nr)
		dimension_put(f, &d, width);
}

static void latency_put_bar(FILE *f, uint64_t count, uint64_t most)
{
	int columns = (int)((double)count / (double)most * BAR_COLUMNS + 0.5);

	fputs(columns ? "  " : "", f);
	while (columns-- > 0)
		fputc('#', f);
	fputc('\n', f);
}

/* Shorter times than format_seconds() is for. */
static const char *latency_format(char out[FORMAT_BYTES], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	size_t unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(out, FORMAT_BYTES, "%.*f %s", value < 10 && unit ? 1 : 0, value, units[unit]);
	return out;
}

static void latency_put(FILE *f, const struct block_latency *l)
{
	unsigned first = LATENCY_BUCKETS, last = 0;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];
	uint64_t most = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		if (!l->count[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = l->count[i] > most ? l->count[i] : most;
	}
	if (!most)
		return;
	fputs("\n  ", f);
	format_name(f, l->device, NAME_COLUMNS);
	fprintf(f, ", %s: %s operations, 99 %% of them in less than %s\n",
		latency_direction_name(l->direction), format_count(a, latency_operations(l)),
		latency_format(b, latency_percentile_ns(l, 99)));
	for (unsigned i = first; i <= last; i++) {
		fprintf(f, "  < %7s  %9s", latency_format(a, latency_upper_ns(i)),
			format_count(b, l->count[i]));
		latency_put_bar(f, l->count[i], most);
	}
}

void latencies_text(FILE *f, const struct summary *s)
{
	for (size_t i = 0; i < s->latencies.nr; i++)
		latency_put(f, &s->latencies.all[i]);
}

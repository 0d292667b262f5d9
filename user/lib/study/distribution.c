// SPDX-License-Identifier: BSD-2-Clause
#include "study/distribution.h"

#include "base/memory.h"
#include "text/format.h"
#include "study/bins.h"
#include "study/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int distribution_make(struct distribution *d, const struct many_values *v, size_t metric,
		      size_t most)
{
	const struct run_key key = run_key(v->metrics.key[metric]);
	double *sorted = memory_calloc(v->nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	*d = (struct distribution){ .key = key.name, .unit = key.unit };
	d->nr = many_values_known(v, metric, sorted);
	d->nr_absent = v->nr - d->nr;
	stats_sort(sorted, d->nr);
	if (d->nr) {
		d->least = sorted[0];
		d->q1 = stats_quantile(sorted, d->nr, 0.25);
		d->median = stats_quantile(sorted, d->nr, 0.5);
		d->q3 = stats_quantile(sorted, d->nr, 0.75);
		d->p95 = stats_quantile(sorted, d->nr, 0.95);
		d->most = sorted[d->nr - 1];
	}
	bins_make(&d->bins, sorted, d->nr, d->unit, most);
	free(sorted);
	return 0;
}

static void distribution_put(struct jsonw *j, const struct distribution *d, const char *key,
			     double v)
{
	if (d->nr)
		jsonw_double(j, key, number_drop_noise(d->unit, v));
	else
		jsonw_null(j, key);
}

void distribution_json_bins(struct jsonw *j, const struct distribution *d)
{
	jsonw_string(j, "scale", d->bins.is_log ? "log" : "linear");
	jsonw_array(j, "bins");
	for (size_t i = 0; i < d->bins.nr; i++) {
		jsonw_object(j, NULL);
		jsonw_double(j, "from", d->bins.list[i].from);
		jsonw_double(j, "to", d->bins.list[i].to);
		jsonw_uint(j, "count", d->bins.list[i].count);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

void distribution_json(struct jsonw *j, const struct distribution *d)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-hist");
	jsonw_string(j, "metric", d->key);
	jsonw_uint(j, "count", d->nr);
	jsonw_uint(j, "absent", d->nr_absent);
	distribution_put(j, d, "min", d->least);
	distribution_put(j, d, "q1", d->q1);
	distribution_put(j, d, "median", d->median);
	distribution_put(j, d, "q3", d->q3);
	distribution_put(j, d, "p95", d->p95);
	distribution_put(j, d, "max", d->most);
	distribution_json_bins(j, d);
	jsonw_object_end(j);
	jsonw_newline(j);
}

#define MOST_BAR 60 /* columns */
#define LEAST_BAR 4
#define INDENT 2

void distribution_put_figures(struct buffer *t, const struct distribution *d)
{
	char a[NUMBER_BYTES], b[NUMBER_BYTES], c[NUMBER_BYTES];

	buffer_printf(t, "%s run%s", format_count(a, d->nr), d->nr == 1 ? "" : "s");
	if (d->nr)
		buffer_printf(t, ", min %s", number_format(a, d->unit, d->least));
	if (d->nr > 1)
		buffer_printf(
			t, ", median %s, p95 %s, max %s", number_format(a, d->unit, d->median),
			number_format(b, d->unit, d->p95), number_format(c, d->unit, d->most));
	if (d->nr_absent)
		buffer_printf(t, "; %s more lack%s this value", format_count(a, d->nr_absent),
			      d->nr_absent == 1 ? "s" : "");
	if (d->bins.is_log)
		buffer_puts(t, "; logarithmic scale");
}

static int distribution_put_title(FILE *f, const struct distribution *d, size_t width)
{
	struct buffer t = { 0 };

	buffer_printf(&t, "%s: ", d->key);
	distribution_put_figures(&t, d);
	return format_folded_buffer(f, &t, width, INDENT);
}

/* Draws a bar of @share of @columns. Any share above 0 is visible. */
static size_t histogram_put_bar(FILE *f, double share, size_t columns, bool is_utf8)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t parts = is_utf8 ? 8 : 1, length = (size_t)(share * (double)(columns * parts) + 0.5);
	size_t whole, part;

	if (share <= 0)
		return 0;
	if (!length && !is_utf8) {
		fputc('.', f);
		return 1;
	}
	length += !length;
	whole = length / parts;
	part = length % parts;
	for (size_t i = 0; i < whole; i++)
		fputs(is_utf8 ? "█" : "#", f);
	fputs(eighths[part], f);
	return whole + (part > 0);
}

int distribution_draw(FILE *f, const struct distribution *d, size_t width, bool is_utf8)
{
	const struct edge_style style = edge_style_make(&d->bins, d->unit);
	char from[MOST_BINS + 1][NUMBER_BYTES], count[NUMBER_BYTES];
	size_t label = 0, digits = 0, used, columns, most = 1;

	if (distribution_put_title(f, d, width))
		return -ENOMEM;
	for (size_t i = 0; i < d->bins.nr; i++) {
		const struct bin *bin = &d->bins.list[i];

		used = strlen(edge_format(from[i], &style, bin->from));
		label = used > label ? used : label;
		used = strlen(format_count(count, bin->count));
		digits = used > digits ? used : digits;
		most = bin->count > most ? bin->count : most;
	}
	used = INDENT + label + 2 + 1 + digits;
	columns = width > used + LEAST_BAR ? width - used : LEAST_BAR;
	columns = columns < MOST_BAR ? columns : MOST_BAR;
	for (size_t i = 0; i < d->bins.nr; i++) {
		double share = (double)d->bins.list[i].count / (double)most;

		fprintf(f, "%*s%*s %s", INDENT, "", (int)label, from[i], is_utf8 ? "│" : "|");
		used = histogram_put_bar(f, share, columns, is_utf8);
		format_count(count, d->bins.list[i].count);
		fprintf(f, "%*s%*s\n", (int)(columns - used + 1), "", (int)digits, count);
	}
	return 0;
}

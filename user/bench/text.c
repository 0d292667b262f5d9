// SPDX-License-Identifier: BSD-2-Clause
#include "bench/text.h"

#include "bench/label.h"
#include "bench/span_table.h"
#include "compare/number.h"
#include "compare/rows.h"
#include "view/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_WIDTH 6 /* of the column with how many runs there are */
#define AGAINST_WIDTH                                                                              \
	56 /* "  x 1.747 (1.123 to 1.123), p 1.1e-05: more than noise", or a digit more */

struct bench_column {
	const char *title;
	const char *key;
	size_t of; /* the member of struct measure */
};

#define OF(member) offsetof(struct measure, member)

static const struct bench_column time_columns[] = {
	{ "mean", "wall_seconds", OF(mean) },     { "sd", "wall_seconds", OF(sd) },
	{ "median", "wall_seconds", OF(median) }, { "min", "wall_seconds", OF(least) },
	{ "max", "wall_seconds", OF(most) },
};

/* Medians: a single outlier does not move them. */
static const struct bench_column use_columns[] = {
	{ "user", "user_seconds", OF(median) },   { "system", "system_seconds", OF(median) },
	{ "peak RSS", NULL, OF(median) },         { "read", "read_bytes", OF(median) },
	{ "written", "write_bytes", OF(median) },
};

/* Of memory the peak that is known best. */
static const char *column_key(const struct bench_result *r, size_t group,
			      const struct bench_column *c)
{
	size_t key;

	if (c->key)
		return c->key;
	return headline_key(&r->comparison, group, HEAD_MEMORY, &key) ? compare_key(key).name
								      : "rss_peak_bytes";
}

static enum metric_unit key_unit(const char *name)
{
	size_t key;

	return compare_key_find(name, strlen(name), &key) ? UNIT_COUNT : compare_key(key).unit;
}

static int bench_cell_put(FILE *f, const struct bench_result *r, size_t group,
			  const struct bench_column *c)
{
	const char *key = column_key(r, group, c);
	char text[NUMBER_BYTES] = "-";
	struct measure m;
	double value;
	int err = bench_measure(&r->groups.list[group], key, &m);

	if (err)
		return err;
	memcpy(&value, (const char *)&m + c->of, sizeof(value));
	if (!isnan(value))
		number_format(text, key_unit(key), value);
	fprintf(f, "%*s", CELL_WIDTH, text);
	return 0;
}

static int bench_table(FILE *f, const struct bench_result *r, const char *title,
		       const struct bench_column *columns, size_t nr, size_t width)
{
	const bool has_runs = columns == time_columns;
	size_t label =
		label_width(label_longest(r), width, nr * CELL_WIDTH + (has_runs ? RUNS_WIDTH : 0));
	int err = 0;

	if (label < strlen(title))
		label = strlen(title);
	case_label_begin(f, title, label);
	if (has_runs)
		fprintf(f, "%*s", RUNS_WIDTH, "runs");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%*s", CELL_WIDTH, columns[i].title);
	fputc('\n', f);
	for (size_t row = 0; !err && row < r->groups.nr; row++) {
		size_t g = group_at(r, row);

		case_label_begin(f, r->groups.list[g].name, label);
		if (has_runs)
			fprintf(f, "%*zu", RUNS_WIDTH, r->groups.list[g].nr);
		for (size_t i = 0; !err && i < nr; i++)
			err = bench_cell_put(f, r, g, &columns[i]);
		fputc('\n', f);
	}
	return err;
}

static int group_ratio(const struct bench_result *r, size_t group, struct ratio *out)
{
	const struct group *first = &r->groups.list[0], *other = &r->groups.list[group];
	double *a = calloc(first->nr + 1, sizeof(*a)), *b = calloc(other->nr + 1, sizeof(*b));
	int err = a && b ? 0 : -ENOMEM;
	size_t na, nb;

	*out = (struct ratio){ .estimate = NAN };
	if (!err) {
		na = bench_values(first, "wall_seconds", a);
		nb = bench_values(other, "wall_seconds", b);
		err = ratio_estimate(a, na, b, nb, out);
	}
	free(a);
	free(b);
	return err;
}

static int against_put(FILE *f, const struct bench_result *r, size_t group, size_t label)
{
	const struct against *x;
	struct ratio ratio;
	size_t key;
	int err = group_ratio(r, group, &ratio);

	if (err || compare_key_find("wall_seconds", strlen("wall_seconds"), &key))
		return err;
	x = against_of(&r->comparison, group, key);
	case_label_begin(f, r->groups.list[group].name, label);
	fprintf(f, "  x %.3f", ratio.estimate);
	if (ratio.has_interval)
		fprintf(f, " (%.3f to %.3f)", ratio.low, ratio.high);
	if (x->has_both && x->verdict != VERDICT_NONE && x->verdict != VERDICT_TOO_FEW)
		fprintf(f, x->p_corrected < 0.001 ? ", p %.1e" : ", p %.3f", x->p_corrected);
	if (x->has_both && x->verdict != VERDICT_NONE)
		fprintf(f, ": %s", verdict_name(x->verdict));
	fputc('\n', f);
	return 0;
}

static int fastest_put(FILE *f, const struct bench_result *r, size_t width)
{
	char *text = NULL;
	size_t room;
	FILE *line = open_memstream(&text, &room);

	if (!line)
		return -ENOMEM;
	fputs("  The fastest was ", line);
	case_label_put(line, r->groups.list[0].name, 2 * width);
	fputs("; the time of the others against it (95 %):", line);
	if (fclose(line)) {
		free(text);
		return -ENOMEM;
	}
	fputc('\n', f);
	format_folded(f, text, width, 2);
	free(text);
	return 0;
}

static int againsts_put(FILE *f, const struct bench_result *r, size_t width)
{
	size_t label = label_width(label_longest(r), width, AGAINST_WIDTH);
	int err;

	if (r->groups.nr < 2)
		return 0;
	err = fastest_put(f, r, width);
	for (size_t row = 0; !err && row < r->groups.nr; row++)
		if (group_at(r, row))
			err = against_put(f, r, group_at(r, row), label);
	return err;
}

int bench_text(FILE *f, const struct bench_result *r, size_t width)
{
	const size_t nr_time = sizeof(time_columns) / sizeof(*time_columns);
	const size_t nr_use = sizeof(use_columns) / sizeof(*use_columns);
	int err = bench_table(f, r, "time", time_columns, nr_time, width);

	fputc('\n', f);
	if (!err)
		err = bench_table(f, r, "median of", use_columns, nr_use, width);
	if (!err)
		err = bench_span_table(f, r, width);
	return err ? err : againsts_put(f, r, width);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "bench/text.h"

#include "compare/number.h"
#include "compare/rows.h"
#include "view/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH 11  /* with the two blanks before it */
#define LEAST_LABEL 16 /* columns */

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

/* Medians: one run that went astray is none of the others. */
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

/* As wide as the longest, but cut where the line would be too long. */
static size_t label_width(const struct bench_result *r, size_t width, size_t cells)
{
	const size_t used = 2 + cells * CELL_WIDTH;
	size_t most = width > used + LEAST_LABEL ? width - used : LEAST_LABEL, longest = 4;

	for (size_t i = 0; i < r->groups.nr; i++) {
		size_t n = format_columns(r->groups.list[i].name);

		longest = n > longest ? n : longest;
	}
	return longest < most ? longest : most;
}

static void case_label_put(FILE *f, const char *label, size_t width)
{
	size_t n;

	fputs("  ", f);
	n = format_beginning(f, label, width);
	fprintf(f, "%*s", (int)(width - n), "");
}

/* In the order of the plan. */
static size_t group_at(const struct bench_result *r, size_t nth)
{
	for (size_t of = 0; of < r->plan->nr; of++)
		for (size_t g = 0; g < r->groups.nr; g++)
			if (r->case_of[g] == of && !nth--)
				return g;
	return 0;
}

static int bench_table(FILE *f, const struct bench_result *r, const char *title,
		       const struct bench_column *columns, size_t nr, size_t width)
{
	const bool has_runs = columns == time_columns;
	size_t label = label_width(r, width, nr + has_runs);
	int err = 0;

	if (label < strlen(title))
		label = strlen(title);
	case_label_put(f, title, label);
	if (has_runs)
		fprintf(f, "%6s", "runs");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%*s", CELL_WIDTH, columns[i].title);
	fputc('\n', f);
	for (size_t row = 0; !err && row < r->groups.nr; row++) {
		size_t g = group_at(r, row);

		case_label_put(f, r->groups.list[g].name, label);
		if (has_runs)
			fprintf(f, "%6zu", r->groups.list[g].nr);
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
	case_label_put(f, r->groups.list[group].name, label);
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

static int againsts_put(FILE *f, const struct bench_result *r, size_t width)
{
	size_t label = label_width(r, width, 4);
	int err = 0;

	if (r->groups.nr < 2)
		return 0;
	fputs("\n  The fastest was ", f);
	format_beginning(f, r->groups.list[0].name, width > 40 ? width - 20 : 20);
	fputs("; the time of the others against it (95 %):\n", f);
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
	return err ? err : againsts_put(f, r, width);
}

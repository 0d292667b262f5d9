// SPDX-License-Identifier: BSD-2-Clause
/* Writes the results of a benchmark as hyperfine's other formats: CSV and Markdown. */
#include "study/result.h"

#include "base/number.h"
#include "text/format.h"
#include "text/markdown.h"

#include <math.h>
#include <string.h>

static void csv_put_seconds(struct buffer *t, double v)
{
	char out[DOUBLE_TEXT];

	buffer_puts(t, ",");
	if (isfinite(v))
		buffer_put(t, out, (size_t)double_format(out, v));
}

static int csv_put_case(struct buffer *t, const struct bench_result *r, size_t of,
			const struct group *g)
{
	const struct bench_case *c = &r->plan->cases[of];
	struct bench_times of_case;
	int err = bench_times_of(g, &of_case);

	if (err)
		return err;
	buffer_put_quoted(t, c->command);
	csv_put_seconds(t, of_case.wall.mean);
	csv_put_seconds(t, of_case.wall.sd);
	csv_put_seconds(t, of_case.wall.median);
	csv_put_seconds(t, of_case.user.mean);
	csv_put_seconds(t, of_case.system.mean);
	csv_put_seconds(t, of_case.wall.least);
	csv_put_seconds(t, of_case.wall.most);
	for (size_t i = 0; i < r->plan->parameters.nr; i++) {
		buffer_puts(t, ",");
		buffer_put_quoted(t, c->values[i]);
	}
	buffer_puts(t, "\n");
	return 0;
}

int bench_write_csv(struct buffer *t, const struct bench_result *r)
{
	int err = 0;

	buffer_puts(t, "command,mean,stddev,median,user,system,min,max");
	for (size_t i = 0; i < r->plan->parameters.nr; i++) {
		buffer_puts(t, ",");
		buffer_printf(t, "parameter_%s", r->plan->parameters.list[i].name);
	}
	buffer_puts(t, "\n");
	for (size_t i = 0; !err && i < r->plan->nr; i++) {
		const struct group *g = bench_group(r, i);

		if (g)
			err = csv_put_case(t, r, i, g);
	}
	return err;
}

/* All times of a table have the same unit, as hyperfine's have. */
struct time_unit {
	const char *name;
	double factor;
	int decimals;
};

static struct time_unit time_unit_choose(double least)
{
	return least < 1 ? (struct time_unit){ "ms", 1e3, 1 } : (struct time_unit){ "s", 1, 3 };
}

static int markdown_row(FILE *f, const struct bench_result *r, size_t of, const struct group *g,
			const struct time_unit *u)
{
	const size_t group = (size_t)(g - r->groups.list);
	char peak[NUMBER_BYTES] = "-";
	struct measure wall, memory;
	struct ratio ratio;
	size_t key;
	int err = bench_measure(g, "wall_seconds", &wall);

	if (!err && headline_key(&r->comparison, group, HEAD_MEMORY, &key)) {
		err = bench_measure(g, run_key(key).name, &memory);
		if (!err && memory.nr)
			number_format(peak, UNIT_BYTES, memory.median);
	}
	if (!err && group)
		err = bench_ratio(r, group, &ratio);
	if (err)
		return err;
	fputs("| ", f);
	markdown_code(f, r->plan->cases[of].command, SIZE_MAX, true);
	fprintf(f, " | %.*f", u->decimals, wall.mean * u->factor);
	if (!isnan(wall.sd))
		fprintf(f, " ± %.*f", u->decimals, wall.sd * u->factor);
	fprintf(f, " | %.*f | %.*f | ", u->decimals, wall.least * u->factor, u->decimals,
		wall.most * u->factor);
	if (!group)
		fputs("1.00", f);
	else
		fprintf(f, "%.2f", ratio.estimate);
	if (group && ratio.has_interval)
		fprintf(f, " (%.2f to %.2f)", ratio.low, ratio.high);
	fprintf(f, " | %s |\n", peak);
	return 0;
}

int bench_write_markdown(FILE *f, const struct bench_result *r)
{
	struct measure fastest = { .mean = 0 };
	struct time_unit u;
	int err = r->groups.nr ? bench_measure(&r->groups.list[0], "wall_seconds", &fastest) : 0;

	u = time_unit_choose(fastest.mean);
	fprintf(f, "| Command | Mean [%s] | Min [%s] | Max [%s] | Relative | Memory |\n", u.name,
		u.name, u.name);
	fputs("|:---|---:|---:|---:|---:|---:|\n", f);
	for (size_t i = 0; !err && i < r->plan->nr; i++) {
		const struct group *g = bench_group(r, i);

		if (g)
			err = markdown_row(f, r, i, g, &u);
	}
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "study/bins.h"

#include "text/format.h"
#include "study/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIB 1024.0

struct axis_values {
	const double *sorted;
	size_t n;
	bool is_log;
	enum metric_unit unit;
};

static double axis_place(const struct axis_values *a, double value)
{
	return a->is_log ? log2(value) : value;
}

static double axis_quantile(const struct axis_values *a, double q)
{
	return axis_place(a, stats_quantile(a->sorted, a->n, q));
}

static double axis_range(const struct axis_values *a)
{
	return axis_place(a, a->sorted[a->n - 1]) - axis_place(a, a->sorted[0]);
}

/*
 * Returns the share of the axis that the middle half of the values takes, or more than half if
 * these are all the same.
 */
static double axis_middle_share(const struct axis_values *a)
{
	static const double tails[] = { 0.25, 0.05, 0.005 };
	double range = axis_range(a), middle = 0;

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails) && middle <= 0; i++)
		middle = axis_quantile(a, 1 - tails[i]) - axis_quantile(a, tails[i]);
	return range > 0 ? middle / range : 0;
}

/* @sorted has only the values above 0. */
static bool values_need_log(const double *sorted, size_t n)
{
	const struct axis_values linear = { .sorted = sorted, .n = n };
	const struct axis_values log = { .sorted = sorted, .n = n, .is_log = true };

	return n > 1 && sorted[n - 1] >= 10 * sorted[0] &&
	       axis_middle_share(&log) > 2 * axis_middle_share(&linear);
}

static double bins_wanted(const struct axis_values *a, size_t most)
{
	double iqr = axis_quantile(a, 0.75) - axis_quantile(a, 0.25), n = (double)a->n;
	double wanted = iqr > 0 ? axis_range(a) * cbrt(n) / (2 * iqr) : log2(n) + 1;

	return fmin(fmax(ceil(wanted), 1), (double)most);
}

/* Returns the smallest round step that is at least @least. */
static double step_round_up(double least, enum metric_unit unit, bool is_log)
{
	static const double digits[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500 };
	double base = 1;

	if (is_log) { /* steps of log2; whole numbers need no edges between 1 and 2 */
		double finest = unit == UNIT_COUNT ? 1 : 0.25;

		return least <= 1 ? fmax(finest, exp2(ceil(log2(least)))) : ceil(least);
	}
	if (unit == UNIT_BYTES)
		while (base * KIB <= least)
			base *= KIB;
	else
		base = pow(1000, floor(log(least) / log(1000)));
	if (unit == UNIT_COUNT || unit == UNIT_BYTES)
		base = fmax(base, 1);
	for (size_t i = 0; i < sizeof(digits) / sizeof(*digits); i++)
		if (digits[i] * base >= least)
			return digits[i] * base;
	return base * (unit == UNIT_BYTES ? KIB : 1000);
}

/* Removes rounding errors: 0.6, not 0.6000000000000001. */
static double edge_at(const struct axis_values *a, double number, double step)
{
	double exact = a->is_log ? exp2(number * step) : number * step;
	double edge = number_drop_noise(a->unit, exact);

	return fabs(edge - exact) <= 1e-9 * fabs(exact) ? edge : exact;
}

/* Returns the number of the last edge that is not above @value. */
static double edge_below(const struct axis_values *a, double value, double step)
{
	double number = floor(axis_place(a, value) / step);

	if (edge_at(a, number, step) > value) /* rounding error */
		number--;
	else if (edge_at(a, number + 1, step) <= value)
		number++;
	return number;
}

/* Counts the values in each bin, with its edges as printed. */
static void bins_fill(struct bins *b, const struct axis_values *a, double first, double step,
		      size_t nr)
{
	size_t at = 0;

	for (size_t i = 0; i < nr; i++) {
		struct bin *bin = &b->list[b->nr++];
		size_t before = at;

		*bin = (struct bin){ .from = edge_at(a, first + (double)i, step),
				     .to = edge_at(a, first + (double)i + 1, step) };
		while (at < a->n && (a->sorted[at] < bin->to || i + 1 == nr))
			at++;
		bin->count = at - before;
	}
}

/* Makes bins for values that are not all the same. */
static void bins_divide(struct bins *b, const struct axis_values *a, size_t most)
{
	double step = axis_range(a) / bins_wanted(a, most), first, last;

	do {
		step = step_round_up(step, a->unit, a->is_log);
		first = edge_below(a, a->sorted[0], step);
		last = edge_below(a, a->sorted[a->n - 1], step);
		if (last - first < (double)most)
			break;
		step *= 1.01;
	} while (true);
	bins_fill(b, a, first, step, (size_t)(last - first) + 1);
}

void bins_make(struct bins *b, const double *sorted, size_t n, enum metric_unit unit, size_t most)
{
	struct axis_values a = { .sorted = sorted, .n = n, .unit = unit };
	size_t zeros = 0;

	b->nr = 0;
	b->is_log = false;
	while (zeros < n && sorted[zeros] == 0)
		zeros++;
	if (n > zeros && sorted[0] >= 0 && values_need_log(sorted + zeros, n - zeros)) {
		b->is_log = a.is_log = true;
		a.sorted += zeros;
		a.n -= zeros;
		if (zeros)
			b->list[b->nr++] = (struct bin){ .count = zeros };
		most -= zeros && most > 1;
	}
	if (a.n && a.sorted[0] == a.sorted[a.n - 1])
		b->list[b->nr++] = (struct bin){ a.sorted[0], a.sorted[0], a.n };
	else if (a.n)
		bins_divide(b, &a, most);
}

double bins_place(const struct bins *b, double value)
{
	size_t low = 0, high = b->nr - 1;
	const struct bin *bin;

	while (low < high) { /* find the last bin that does not begin above the value */
		size_t middle = (low + high + 1) / 2;

		if (b->list[middle].from <= value)
			low = middle;
		else
			high = middle - 1;
	}
	bin = &b->list[low];
	if (bin->from == bin->to)
		return (double)low + 0.5;
	if (b->is_log)
		return (double)low + log(value / bin->from) / log(bin->to / bin->from);
	return (double)low + (value - bin->from) / (bin->to - bin->from);
}

#define MOST_DIGITS 9

double bins_edge(const struct bins *b, size_t i)
{
	return i < b->nr ? b->list[i].from : b->list[b->nr - 1].to;
}

static void style_choose_unit(struct edge_style *s, double largest)
{
	static const char *const bytes[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB" };
	static const char *const seconds[] = { " s", " ms", " us", " ns" };
	size_t at = 0;

	s->scale = 1;
	s->suffix = "";
	if (s->unit == UNIT_BYTES) {
		for (; largest / s->scale >= 1024 && at + 1 < sizeof(bytes) / sizeof(*bytes); at++)
			s->scale *= 1024;
		s->suffix = bytes[at];
	} else if (s->unit == UNIT_NS) {
		for (; largest / s->scale < 1 && at + 1 < sizeof(seconds) / sizeof(*seconds); at++)
			s->scale /= 1000;
		s->suffix = seconds[at];
	}
}

static bool edges_look_apart(const struct edge_style *s, const struct bins *b)
{
	char before[NUMBER_BYTES], text[NUMBER_BYTES];

	for (size_t i = 1; i <= b->nr; i++)
		if (bins_edge(b, i) > bins_edge(b, i - 1) &&
		    !strcmp(edge_format(before, s, bins_edge(b, i - 1)),
			    edge_format(text, s, bins_edge(b, i))))
			return false;
	return true;
}

struct edge_style edge_style_make(const struct bins *b, enum metric_unit unit)
{
	struct edge_style s = { .unit = unit, .digits = -1 };

	if (!b->nr || edges_look_apart(&s, b))
		return s;
	style_choose_unit(&s, bins_edge(b, b->nr));
	for (s.digits = 0; s.digits < MOST_DIGITS && !edges_look_apart(&s, b);)
		s.digits++;
	return s;
}

char *edge_format(char *out, const struct edge_style *s, double edge)
{
	if (edge == 0 && (s->unit == UNIT_NS || s->unit == UNIT_BYTES))
		snprintf(out, NUMBER_BYTES, "0 %s", s->unit == UNIT_NS ? "s" : "B");
	else if (s->digits < 0)
		number_format(out, s->unit, edge);
	else
		snprintf(out, NUMBER_BYTES, "%.*f%s", s->digits, edge / s->scale, s->suffix);
	return out;
}

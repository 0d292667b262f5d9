// SPDX-License-Identifier: BSD-2-Clause
#include "study/edges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DIGITS 9

double bins_edge(const struct bins *b, size_t i)
{
	return i < b->nr ? b->list[i].from : b->list[b->nr - 1].to;
}

/* Of the largest edge. */
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

// SPDX-License-Identifier: BSD-2-Clause
#include "report/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_HEIGHT 23  /* two lines: its name, and its value */
#define NAME_DISTANCE 8 /* from the plot */
#define TEXT_ABOVE 10   /* of a base line, of a text of 11 px */
#define TEXT_BELOW 3
#define NEAR 1.6 /* as in the page: a limit up to so many times the largest value is drawn */

static double limit_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void limit_add(struct panel_limit *list, unsigned *nr, const char *name, double value)
{
	if (value > 0)
		list[(*nr)++] = (struct panel_limit){ .name = name, .value = value };
}

static unsigned limits_of_cpu(struct panel_limit *list, const json_t *limits, double cpus)
{
	double allowed = limit_number(limits, "cpus_allowed_count");
	unsigned nr = 0;

	limit_add(list, &nr, "limit", limit_number(limits, "cpu_max_cores"));
	limit_add(list, &nr, "allowed", allowed < cpus ? allowed : 0);
	limit_add(list, &nr, "machine", cpus);
	return nr;
}

static unsigned limits_of_memory(struct panel_limit *list, const struct report_run *r,
				 const json_t *limits)
{
	double killed_at = limit_number(json_object_get(r->summary, "oom"), "limit_bytes");
	unsigned nr = 0;

	limit_add(list, &nr, "limit",
		  killed_at > 0 ? killed_at : limit_number(limits, "memory_max_bytes"));
	limit_add(list, &nr, "throttled", limit_number(limits, "memory_high_bytes"));
	limit_add(list, &nr, "machine",
		  limit_number(json_object_get(r->meta, "system"), "memory_bytes"));
	return nr;
}

static int limit_compare(const void *a, const void *b)
{
	const struct panel_limit *x = a, *y = b;

	return x->value < y->value ? 1 : x->value > y->value ? -1 : 0;
}

unsigned limits_find(struct panel_limit list[MOST_LIMITS], const struct report_run *r, size_t i,
		     double largest)
{
	const json_t *limits = json_object_get(r->meta, "limits");
	enum chart_unit unit = chart_specs[i].unit;
	unsigned nr = 0, kept = 0;
	double least = INFINITY;

	if (unit == CHART_CORES)
		nr = limits_of_cpu(list, limits,
				   limit_number(json_object_get(r->meta, "system"), "cpus"));
	else if (unit == CHART_BYTES)
		nr = limits_of_memory(list, r, limits);
	for (unsigned k = 0; k < nr; k++)
		least = fmin(least, list[k].value);
	for (unsigned k = 0; k < nr; k++) {
		bool is_least = unit == CHART_CORES && list[k].value <= least;

		if (!is_least && list[k].value > largest * NEAR)
			continue;
		list[kept] = list[k];
		axis_format_value(list[kept].text, unit, list[kept].value);
		if (unit == CHART_CORES)
			strncat(list[kept].text, list[kept].value == 1 ? " core" : " cores",
				AXIS_TEXT - strlen(list[kept].text) - 1);
		kept++;
	}
	qsort(list, kept, sizeof(*list), limit_compare);
	return kept;
}

static double limit_y(const struct panel_limit *limit, const struct limit_place *p)
{
	return p->bottom - limit->value * p->y_per_unit;
}

/* A name is below the one before where their lines are near. */
void limits_draw(FILE *f, const struct panel_limit *list, unsigned nr, const struct limit_place *p)
{
	double free_from = p->top - TEXT_BELOW, x = p->right + NAME_DISTANCE;

	for (unsigned i = 0; i < nr; i++) {
		double y = limit_y(&list[i], p), name = fmax(y - TEXT_BELOW - 1, free_from);

		fprintf(f,
			"<path d=\"M%.0f %.1fH%.0f\" stroke=\"#20262b\" stroke-dasharray=\"1 "
			"4\"/>\n"
			"<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\">%s <tspan x=\"%.1f\" "
			"dy=\"11\">%s</tspan></text>\n",
			p->left, y, p->right + NAME_DISTANCE / 2.0, x,
			name + TEXT_ABOVE - TEXT_BELOW, list[i].name, x, list[i].text);
		free_from = name + NAME_HEIGHT;
	}
}

double limits_lift_text(const struct panel_limit *list, unsigned nr, const struct limit_place *p,
			double y)
{
	for (unsigned i = nr; i-- > 0;) {
		double line = limit_y(&list[i], p);

		if (line > y - TEXT_ABOVE && line < y + TEXT_BELOW)
			y = line - TEXT_BELOW - 1;
	}
	return y;
}

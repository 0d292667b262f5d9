// SPDX-License-Identifier: BSD-2-Clause
#include "page/trace.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS_PER_PIXEL 2

struct pen {
	FILE *f;
	const struct trace_scale *scale;
	const struct downsampler_row *rows;
	const double *y;
	bool is_area;
	size_t points; /* of this piece of the curve */
};

static double pen_x(const struct pen *p, size_t i)
{
	return p->scale->left + p->rows[i].seconds * p->scale->x_per_second;
}

static void pen_to(struct pen *p, size_t i)
{
	double x = pen_x(p, i), y = p->scale->bottom - p->y[i] * p->scale->y_per_unit;

	if (!p->points && p->is_area)
		fprintf(p->f, "M%.1f %.1f", x, p->scale->bottom);
	fprintf(p->f, "%c%.1f %.1f", p->points || p->is_area ? 'L' : 'M', x, y);
	p->points++;
}

static void pen_up(struct pen *p)
{
	if (p->points && p->is_area)
		fprintf(p->f, "V%.1fZ", p->scale->bottom);
	else if (p->points == 1)
		fputs("h0", p->f); /* a dot, as lines end round */
	p->points = 0;
}

static int index_compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Draws the values from @first to before @end, which lie in one column. */
static void pen_column(struct pen *p, size_t first, size_t end)
{
	size_t kept[] = { first, first, first, end - 1 };

	for (size_t i = first; i < end; i++) {
		if (p->y[i] < p->y[kept[1]])
			kept[1] = i;
		if (p->y[i] > p->y[kept[2]])
			kept[2] = i;
	}
	qsort(kept, 4, sizeof(*kept), index_compare);
	for (size_t k = 0; k < 4; k++)
		if (!k || kept[k] != kept[k - 1])
			pen_to(p, kept[k]);
}

void trace_write(FILE *f, const struct trace_scale *scale, const struct downsampler_row *rows,
		 const double *y, size_t nr, bool is_area)
{
	struct pen p = { f, scale, rows, y, is_area, 0 };
	size_t end;

	for (size_t i = 0; i < nr; i = end) {
		double column = floor(pen_x(&p, i) * COLUMNS_PER_PIXEL);

		end = i + 1;
		if (isnan(y[i])) {
			pen_up(&p);
			continue;
		}
		while (end < nr && !isnan(y[end]) &&
		       floor(pen_x(&p, end) * COLUMNS_PER_PIXEL) == column)
			end++;
		pen_column(&p, i, end);
	}
	pen_up(&p);
}

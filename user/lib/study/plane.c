// SPDX-License-Identifier: BSD-2-Clause
#include "study/plane.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void side_divide(struct plane_side *s, size_t most)
{
	s->parts = most > s->bins->nr ? most / s->bins->nr : 1;
	s->cells = s->parts * s->bins->nr;
}

static size_t side_cell(const struct plane_side *s, double value)
{
	size_t cell = (size_t)(bins_place(s->bins, value) * (double)s->parts);

	return cell < s->cells ? cell : s->cells - 1;
}

int plane_make(struct plane *p, const struct many_values *v, struct plane_side x,
	       struct plane_side y, size_t most_x, size_t most_y)
{
	*p = (struct plane){ .x = x, .y = y };
	side_divide(&p->x, most_x);
	side_divide(&p->y, most_y);
	p->count = calloc(p->x.cells * p->y.cells, sizeof(*p->count));
	if (!p->count)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr; i++) {
		double a = many_value(v, x.metric, i), b = many_value(v, y.metric, i);

		if (isnan(a) || isnan(b))
			continue;
		p->count[side_cell(&p->y, b) * p->x.cells + side_cell(&p->x, a)]++;
		p->nr++;
	}
	return 0;
}

void plane_done(struct plane *p)
{
	free(p->count);
	p->count = NULL;
}

uint32_t plane_count(const struct plane *p, size_t column, size_t row)
{
	return p->count[row * p->x.cells + column];
}

unsigned plane_shade(uint32_t count, unsigned nr)
{
	unsigned shade = 0;

	for (; count >= 4 && shade + 1 < nr; count /= 4)
		shade++;
	return shade;
}

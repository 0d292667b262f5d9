// SPDX-License-Identifier: BSD-2-Clause
#include "run/memory_shape.h"

/* Of each two points one: the larger memory, at the later time. */
static void memory_shape_halve(struct memory_shape *m)
{
	for (size_t i = 0; i < m->nr / 2; i++) {
		struct memory_point a = m->point[2 * i], b = m->point[2 * i + 1];

		m->point[i] = b;
		if (a.rss_bytes > b.rss_bytes)
			m->point[i].rss_bytes = a.rss_bytes;
	}
	m->nr /= 2;
	m->every *= 2;
	m->in_last = m->every; /* the next sample begins a point */
}

void memory_shape_add(struct memory_shape *m, const struct sample *smp)
{
	uint64_t rss = smp->value[M_rss];
	struct memory_point *last;

	if (!sample_has(smp, M_rss))
		return;
	if (rss >= m->largest_bytes) {
		m->largest_bytes = rss;
		m->has_anon = sample_has(smp, M_rss_anon);
		m->anon_bytes = m->has_anon ? smp->value[M_rss_anon] : 0;
	}
	if (!m->every)
		m->every = m->in_last = 1;
	if (m->in_last == m->every && m->nr == MEMORY_SHAPE_POINTS)
		memory_shape_halve(m);
	if (m->in_last == m->every) {
		m->point[m->nr++] = (struct memory_point){ smp->elapsed_ns, rss };
		m->in_last = 1;
		return;
	}
	last = &m->point[m->nr - 1];
	last->at_ns = smp->elapsed_ns;
	if (rss > last->rss_bytes)
		last->rss_bytes = rss;
	m->in_last++;
}

double memory_shape_at(const struct memory_shape *m, double at_ns)
{
	const struct memory_point *a, *b;
	size_t i = 0;

	while (i + 1 < m->nr && (double)m->point[i].at_ns < at_ns)
		i++;
	b = &m->point[i];
	a = i ? b - 1 : b;
	if (at_ns >= (double)b->at_ns || a->at_ns >= b->at_ns || at_ns <= (double)a->at_ns)
		return (double)(at_ns >= (double)b->at_ns ? b : a)->rss_bytes;
	return (double)a->rss_bytes + ((double)b->rss_bytes - (double)a->rss_bytes) *
					      (at_ns - (double)a->at_ns) /
					      (double)(b->at_ns - a->at_ns);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LATE_NS                                                                                    \
	2000000 /* less than a tick, as which CPU time is added up: no need to separate it */
#define LATE_SHARE 10

void phases_done(struct phases *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->all[i].text);
	free(p->all);
	*p = (struct phases){ 0 };
}

static struct phase *phase_append(struct phases *p)
{
	struct phase *all;
	size_t room = p->room ? p->room * 2 : 16;

	if (p->nr < p->room)
		return &p->all[p->nr++];
	all = reallocarray(p->all, room, sizeof(*all));
	if (!all)
		return NULL;
	p->all = all;
	p->room = room;
	return &p->all[p->nr++];
}

int phases_add_mark(struct phases *p, const char *text, size_t length, uint64_t elapsed_ns)
{
	char *copy = p->nr < MAX_PHASES ? malloc(length + 1) : NULL;
	struct phase *new = copy ? phase_append(p) : NULL;

	if (!new) {
		free(copy);
		p->left_out++;
		return -ENOMEM;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!copy[i]) /* a NUL would hide what comes after it */
			copy[i] = '?';
	*new = (struct phase){ .text = copy, .start_ns = elapsed_ns, .samples = p->nr };
	return 0;
}

/* By time, then by arrival: until phases are sorted "samples" is the order of arrival. */
static int phase_mark_order(const void *a, const void *b)
{
	const struct phase *p = a, *q = b;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return p->samples < q->samples ? -1 : 1;
}

/* All marks have come: sorts them, and puts the time before the first one in front. */
static void phase_begin(struct phases *p)
{
	struct phase *first;

	if (p->is_sorted)
		return;
	p->is_sorted = true;
	if (p->nr)
		qsort(p->all, p->nr, sizeof(*p->all), phase_mark_order);
	for (size_t i = 0; i < p->nr; i++)
		p->all[i].samples = 0;
	first = phase_append(p);
	if (!first) {
		p->left_out++;
		return;
	}
	memmove(p->all + 1, p->all, (p->nr - 1) * sizeof(*p->all));
	p->all[0] = (struct phase){ 0 };
	p->all[0].is_measured = true;
	metric_set_all(&p->counted); /* all counters begin with 0 */
	for (size_t i = 0; i + 1 < p->nr; i++)
		p->all[i].end_ns = p->all[i + 1].start_ns;
}

static void phase_add_gauges(struct phase *ph, const struct sample *s)
{
	ph->samples++;
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->kind != KIND_GAUGE || !sample_has(s, id))
			continue;
		if (!metric_has(&ph->have, id) || s->value[i] > ph->value[i])
			ph->value[i] = s->value[i];
		metric_put(&ph->have, id);
	}
}

static void phase_add_counters(const struct phases *p, struct phase *ph, const struct sample *s)
{
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->kind != KIND_COUNTER || !sample_has(s, id) ||
		    !metric_has(&p->counted, id))
			continue;
		ph->value[i] = s->value[i] - p->counter[i];
		metric_put(&ph->have, id);
	}
}

void phases_add_sample(struct phases *p, const struct sample *s)
{
	phase_begin(p);
	if (!p->nr)
		return;
	p->nr_samples++;
	phase_add_gauges(&p->all[p->at], s);
	phase_add_counters(p, &p->all[p->at], s);
	while (p->at + 1 < p->nr && s->elapsed_ns >= p->all[p->at + 1].start_ns) {
		p->at++;
		p->all[p->at].is_measured = true;
		p->all[p->at].measured_by = p->nr_samples;
		p->all[p->at].late_ns = s->elapsed_ns - p->all[p->at].start_ns;
		memcpy(p->counter, s->value, sizeof(p->counter));
		p->counted = s->have;
		phase_add_gauges(&p->all[p->at], s);
		phase_add_counters(p, &p->all[p->at], s);
	}
}

/* True if the phases @from to @to - 1 used what was measured between the samples that begin @from
 * and @to: these came soon enough after the marks. */
static bool phase_is_separate(const struct phases *p, size_t from, size_t to, uint64_t end_ns)
{
	const struct phase *first = &p->all[from], *next = to < p->nr ? &p->all[to] : NULL;
	uint64_t late_ns = first->late_ns + (next && next->is_measured ? next->late_ns : 0);
	uint64_t took_ns = end_ns > first->start_ns ? end_ns - first->start_ns : 0;

	return late_ns <= LATE_NS || late_ns <= took_ns / LATE_SHARE;
}

/* True if no later phase begins at the same sample: what is measured from there on is its own. */
static bool phase_begins_at_sample(const struct phases *p, size_t i)
{
	const struct phase *next = i + 1 < p->nr ? &p->all[i + 1] : NULL;

	return !next || !next->is_measured || next->measured_by != p->all[i].measured_by;
}

/* From now on @head has the values of both. */
static void counter_share(struct phases *p, size_t head, size_t i)
{
	struct phase *to = &p->all[head], *ph = &p->all[i];

	for (int m = 0; m < NR_METRICS; m++) {
		enum metric_id id = (enum metric_id)m;
		bool has = metric_has(&to->have, id), more = metric_has(&ph->have, id);

		if (metric_get(id)->kind == KIND_COUNTER) {
			to->value[m] += ph->value[m];
			if (has && !more)
				metric_drop(&to->have, id);
		} else if (more && (!has || ph->value[m] > to->value[m])) {
			to->value[m] = ph->value[m];
			metric_put(&to->have, id);
		}
		ph->value[m] = 0;
	}
	ph->have = (struct metric_set){ 0 };
	to->samples += ph->samples;
	to->nr_shared = i - head + 1;
	ph->nr_shared = 0;
	ph->is_shared = true;
	ph->shared_with = head;
}

static void phase_share_counters(struct phases *p, size_t head, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		counter_share(p, head, i);
}

/* Groups the phases that have a sample, from the first on; each group ends as soon as it may. */
static void phases_join(struct phases *p, size_t nr, uint64_t end_ns)
{
	size_t head = 0, before = 0;

	for (size_t i = 1; i < nr; i++) {
		if (!phase_begins_at_sample(p, i) ||
		    !phase_is_separate(p, head, i, p->all[i].start_ns))
			continue;
		phase_share_counters(p, head, head + 1, i);
		before = head;
		head = i;
	}
	if (head && !phase_is_separate(p, head, nr, end_ns))
		phase_share_counters(p, before, head, nr);
	else
		phase_share_counters(p, head, head + 1, nr);
}

void phases_finish(struct phases *p, uint64_t elapsed_ns)
{
	size_t measured = 0;

	phase_begin(p);
	if (!p->nr)
		return;
	p->all[p->nr - 1].end_ns = elapsed_ns;
	for (size_t i = 0; i < p->nr; i++) /* a mark may come after the last sample */
		if (p->all[i].end_ns < p->all[i].start_ns)
			p->all[i].end_ns = p->all[i].start_ns;
	for (size_t i = 0; i < p->nr; i++)
		p->all[i].nr_shared = 1;
	while (measured < p->nr && p->all[measured].is_measured)
		measured++;
	if (measured)
		phases_join(p, measured, p->all[measured - 1].end_ns);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "model/phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void phases_done(struct phases *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->all[i].text);
	free(p->all);
	*p = (struct phases){ 0 };
}

static struct phase *append(struct phases *p)
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
	struct phase *new = copy ? append(p) : NULL;

	if (!new) {
		free(copy);
		p->left_out++;
		return -ENOMEM;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!copy[i]) /* what comes after it is to be seen, too */
			copy[i] = '?';
	*new = (struct phase){ .text = copy, .start_ns = elapsed_ns, .samples = p->nr };
	return 0;
}

/* Of equal times the first that came; until here "samples" is the place of arrival. */
static int earlier_first(const void *a, const void *b)
{
	const struct phase *p = a, *q = b;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return p->samples < q->samples ? -1 : 1;
}

/* No mark comes any more: in front of them is what was before the first. */
static void begin(struct phases *p)
{
	struct phase *first;

	if (p->is_sorted)
		return;
	p->is_sorted = true;
	if (p->nr)
		qsort(p->all, p->nr, sizeof(*p->all), earlier_first);
	for (size_t i = 0; i < p->nr; i++)
		p->all[i].samples = 0;
	first = append(p);
	if (!first) {
		p->left_out++;
		return;
	}
	memmove(p->all + 1, p->all, (p->nr - 1) * sizeof(*p->all));
	p->all[0] = (struct phase){ 0 };
	metric_set_all(&p->counted); /* all counters begin with 0 */
	for (size_t i = 0; i + 1 < p->nr; i++)
		p->all[i].end_ns = p->all[i + 1].start_ns;
}

static void add_gauges(struct phase *ph, const struct sample *s)
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

static void add_counters(const struct phases *p, struct phase *ph, const struct sample *s)
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
	begin(p);
	if (!p->nr)
		return;
	add_gauges(&p->all[p->at], s);
	add_counters(p, &p->all[p->at], s);
	while (p->at + 1 < p->nr && s->elapsed_ns >= p->all[p->at + 1].start_ns) {
		p->at++;
		memcpy(p->counter, s->value, sizeof(p->counter));
		p->counted = s->have;
		add_gauges(&p->all[p->at], s);
		add_counters(p, &p->all[p->at], s);
	}
}

void phases_finish(struct phases *p, uint64_t elapsed_ns)
{
	begin(p);
	if (!p->nr)
		return;
	p->all[p->nr - 1].end_ns = elapsed_ns;
	for (size_t i = 0; i < p->nr; i++) /* a mark may come after the last sample */
		if (p->all[i].end_ns < p->all[i].start_ns)
			p->all[i].end_ns = p->all[i].start_ns;
}

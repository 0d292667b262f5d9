// SPDX-License-Identifier: BSD-2-Clause
#include "run/phase.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LATE_NS 2000000 /* less than a tick, the resolution of CPU time: no need to separate */
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
	all = memory_reallocarray(p->all, room, sizeof(*all));
	if (!all)
		return NULL;
	p->all = all;
	p->room = room;
	return &p->all[p->nr++];
}

int phases_add_mark(struct phases *p, const char *text, size_t length, uint64_t elapsed_ns)
{
	char *copy = p->nr < MAX_PHASES ? memory_malloc(length + 1) : NULL;
	struct phase *new = copy ? phase_append(p) : NULL;

	if (!new) {
		free(copy);
		p->left_out++;
		return -ENOMEM;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!copy[i]) /* a NUL would hide the rest of the text */
			copy[i] = '?';
	*new = (struct phase){ .text = copy, .start_ns = elapsed_ns, .samples = p->nr };
	return 0;
}

/* Orders by time, then by arrival, which is in @samples until the phases are sorted. */
static int phase_mark_order(const void *a, const void *b)
{
	const struct phase *p = a, *q = b;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return p->samples < q->samples ? -1 : 1;
}

/* Sorts the phases once all marks were added, and inserts the time before the first mark. */
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

/*
 * Returns true if the values between the samples that begin phase @from and phase @to belong to the
 * phases @from to @to - 1: these samples came soon enough after the marks.
 */
static bool phase_is_separate(const struct phases *p, size_t from, size_t to, uint64_t end_ns)
{
	const struct phase *first = &p->all[from], *next = to < p->nr ? &p->all[to] : NULL;
	uint64_t late_ns = first->late_ns + (next && next->is_measured ? next->late_ns : 0);
	uint64_t took_ns = end_ns > first->start_ns ? end_ns - first->start_ns : 0;

	return late_ns <= LATE_NS || late_ns <= took_ns / LATE_SHARE;
}

/* Returns true if no later phase begins at the same sample. */
static bool phase_begins_at_sample(const struct phases *p, size_t i)
{
	const struct phase *next = i + 1 < p->nr ? &p->all[i + 1] : NULL;

	return !next || !next->is_measured || next->measured_by != p->all[i].measured_by;
}

/* Moves the values of phase @i into those of @head. */
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

/* Groups the phases that have a sample, from the first on; each group ends as early as possible. */
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

/* A phase while it is assigned to the sum of its name. */
struct named_phase {
	const char *text;
	size_t at;  /* index of the phase */
	size_t sum; /* index of the sum */
};

void phase_sums_done(struct phase_sums *s)
{
	free(s->all);
	*s = (struct phase_sums){ 0 };
}

static bool phase_name_is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int compare_phase_names(const void *a, const void *b)
{
	const struct named_phase *p = a, *q = b;
	int order = p->text && q->text ? strcmp(p->text, q->text)
				       : (p->text != NULL) - (q->text != NULL);

	return order ? order : (p->at > q->at) - (p->at < q->at);
}

static int compare_phase_numbers(const void *a, const void *b)
{
	const struct named_phase *p = a, *q = b;

	return (p->at > q->at) - (p->at < q->at);
}

/* Returns the sum of each phase, by index; names are numbered in order of appearance. */
static struct named_phase *phase_names_number(struct phase_sums *s, const struct phases *p)
{
	struct named_phase *all = memory_calloc(p->nr + 1, sizeof(*all));
	size_t first = 0;

	if (!all)
		return NULL;
	for (size_t i = 0; i < p->nr; i++)
		all[i] = (struct named_phase){ .text = p->all[i].text, .at = i };
	qsort(all, p->nr, sizeof(*all), compare_phase_names);
	for (size_t i = 0; i < p->nr; i++) {
		if (i && phase_name_is_same(all[i].text, all[i - 1].text))
			s->has_equal = true;
		else
			first = all[i].at;
		all[i].sum = first; /* until numbered: index of the first phase of that name */
	}
	qsort(all, p->nr, sizeof(*all), compare_phase_numbers);
	for (size_t i = 0; i < p->nr; i++)
		all[i].sum = all[i].sum == i ? s->nr++ : all[all[i].sum].sum;
	return all;
}

/* Adds the values of a phase. One without samples does not make the sum incomplete. */
static void phase_sum_add_values(struct phase_sum *sum, const struct phase *ph, bool is_first)
{
	for (int m = 0; m < NR_METRICS && ph->samples; m++) {
		enum metric_id id = (enum metric_id)m;
		bool has = metric_has(&sum->have, id), more = metric_has(&ph->have, id);

		if (metric_get(id)->kind == KIND_COUNTER) {
			sum->value[m] += ph->value[m];
			if (more && is_first)
				metric_put(&sum->have, id);
			else if (has && !more)
				metric_drop(&sum->have, id);
		} else if (more && (!has || ph->value[m] > sum->value[m])) {
			sum->value[m] = ph->value[m];
			metric_put(&sum->have, id);
		}
	}
}

static bool phase_group_has_one_name(const struct named_phase *names, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (names[i].sum != names[0].sum)
			return false;
	return true;
}

/* Adds the @nr phases from @first on, which share their values. */
static void phase_sums_add_group(struct phase_sums *s, const struct phase *first,
				 const struct named_phase *names, size_t nr)
{
	bool is_one = phase_group_has_one_name(names, nr);
	struct phase_sum *to = is_one ? &s->all[names[0].sum] : &s->shared;

	/* the first measured phase decides which counters the sum has */
	phase_sum_add_values(to, first, to->nr == to->nr_shared);
	for (size_t i = 0; i < nr; i++) {
		struct phase_sum *sum = &s->all[names[i].sum];

		sum->text = first[i].text;
		sum->nr++;
		sum->nr_shared += !is_one;
		sum->ns += first[i].end_ns - first[i].start_ns;
		if (is_one)
			continue;
		s->shared.nr++;
		s->shared.ns += first[i].end_ns - first[i].start_ns;
	}
}

int phase_sums_make(struct phase_sums *s, const struct phases *p)
{
	struct named_phase *names;

	*s = (struct phase_sums){ 0 };
	names = phase_names_number(s, p);
	s->all = memory_calloc(s->nr + 1, sizeof(*s->all));
	if (!names || !s->all) {
		free(names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->nr;) {
		size_t nr = p->all[i].nr_shared > 1 ? p->all[i].nr_shared : 1;

		phase_sums_add_group(s, &p->all[i], &names[i], nr);
		i += nr;
	}
	free(names);
	return 0;
}

#define NO_NAME UINT32_MAX

void phase_times_done(struct phase_times *t)
{
	for (size_t i = 0; i < t->nr_names; i++)
		free(t->names[i]);
	free(t->names);
	free(t->marks);
	*t = (struct phase_times){ 0 };
}

/* Returns the text NUL-terminated; replaces a NUL in it, which would hide the rest. */
static char *phase_name_copy(const char *text, size_t length)
{
	char *copy = memory_malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!copy[i])
			copy[i] = '?';
	return copy;
}

/* Returns the number of the name, or NO_NAME if there is no room. Frees or takes over @name. */
static uint32_t phase_name_intern(struct phase_times *t, char *name)
{
	for (size_t i = t->nr_names; name && i-- > 0;) { /* usually a recent one */
		if (strcmp(t->names[i], name) != 0)
			continue;
		free(name);
		return (uint32_t)i;
	}
	if (!t->names)
		t->names = memory_calloc(MAX_TIMED_NAMES, sizeof(*t->names));
	if (!name || !t->names || t->nr_names == MAX_TIMED_NAMES) {
		free(name);
		return NO_NAME;
	}
	t->names[t->nr_names] = name;
	return (uint32_t)t->nr_names++;
}

static bool timed_marks_make_room(struct phase_times *t)
{
	size_t room = t->room ? t->room * 2 : 64;
	struct timed_mark *marks;

	if (t->nr < t->room)
		return true;
	if (t->nr == MAX_TIMED_MARKS)
		return false;
	marks = memory_reallocarray(t->marks, room, sizeof(*marks));
	if (!marks)
		return false;
	t->marks = marks;
	t->room = room;
	return true;
}

void phase_times_add(struct phase_times *t, const char *text, size_t length, uint64_t elapsed_ns)
{
	uint32_t name = NO_NAME;

	if (t->is_partial)
		return;
	if (timed_marks_make_room(t))
		name = phase_name_intern(t, phase_name_copy(text, length));
	if (name == NO_NAME) {
		phase_times_done(t);
		t->is_partial = true;
		return;
	}
	t->marks[t->nr] = (struct timed_mark){ .elapsed_ns = elapsed_ns,
					       .came = (uint32_t)t->nr,
					       .name = name };
	t->nr++;
}

static int timed_mark_order(const void *a, const void *b)
{
	const struct timed_mark *p = a, *q = b;

	if (p->elapsed_ns != q->elapsed_ns)
		return p->elapsed_ns < q->elapsed_ns ? -1 : 1;
	return p->came < q->came ? -1 : 1;
}

/* Limits the time to that of the run: a mark may come after its end. */
static uint64_t time_within(uint64_t elapsed_ns, uint64_t wall_ns)
{
	return elapsed_ns < wall_ns ? elapsed_ns : wall_ns;
}

bool phase_times_longest(struct phase_times *t, uint64_t wall_ns, struct longest_phase *longest)
{
	struct longest_phase *all = memory_calloc(t->nr_names + 1, sizeof(*all));

	if (!all || !t->nr || t->is_partial) {
		free(all);
		return false;
	}
	qsort(t->marks, t->nr, sizeof(*t->marks), timed_mark_order);
	for (size_t i = 0; i < t->nr_names; i++)
		all[i].text = t->names[i];
	all[t->nr_names].ns = time_within(t->marks[0].elapsed_ns, wall_ns);
	all[t->nr_names].count = 1;
	for (size_t i = 0; i < t->nr; i++) {
		struct longest_phase *of = &all[t->marks[i].name];
		uint64_t end = i + 1 < t->nr ? t->marks[i + 1].elapsed_ns : wall_ns;

		of->ns += time_within(end, wall_ns) - time_within(t->marks[i].elapsed_ns, wall_ns);
		of->count++;
	}
	*longest = all[0];
	for (size_t i = 1; i <= t->nr_names; i++)
		if (all[i].ns > longest->ns)
			*longest = all[i];
	free(all);
	return true;
}

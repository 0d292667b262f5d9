// SPDX-License-Identifier: BSD-2-Clause
#include "run/phase_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A phase on the way to the sum of its name. */
struct named_phase {
	const char *text;
	size_t at;  /* its number */
	size_t sum; /* that of its name */
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

/* Which sum each phase is of, by its number: names in the order in which they first come. */
static struct named_phase *phase_names_number(struct phase_sums *s, const struct phases *p)
{
	struct named_phase *all = calloc(p->nr + 1, sizeof(*all));
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
		all[i].sum = first; /* until they are numbered: the first phase of that name */
	}
	qsort(all, p->nr, sizeof(*all), compare_phase_numbers);
	for (size_t i = 0; i < p->nr; i++)
		all[i].sum = all[i].sum == i ? s->nr++ : all[all[i].sum].sum;
	return all;
}

/* A phase that no sample measured has no values, and takes none away. */
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

/* The @nr phases from @first on have their values together. */
static void phase_sums_add_group(struct phase_sums *s, const struct phase *first,
				 const struct named_phase *names, size_t nr)
{
	bool is_one = phase_group_has_one_name(names, nr);
	struct phase_sum *to = is_one ? &s->all[names[0].sum] : &s->shared;

	/* the first that is measured brings the counters that there are */
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
	s->all = calloc(s->nr + 1, sizeof(*s->all));
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

// SPDX-License-Identifier: BSD-2-Clause
#include "run/waited.h"

const char *waited_word(enum waited w)
{
	static const char *const words[NR_WAITED] = {
#define WAIT_METRIC(base, group, kind, unit, word, help) [W_##base] = word,
#include "bpfmon/metrics.def"
	};

	return words[w];
}

static bool share_is_before(const struct waited_share *a, const struct waited_share *b)
{
	if (a->what == W_wait_unseen || b->what == W_wait_unseen)
		return b->what == W_wait_unseen;
	return a->ns > b->ns;
}

/* Keeps those with a share. */
static size_t shares_sort(struct waited_share *list, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct waited_share s = list[i];
		size_t at;

		if (!s.share)
			continue;
		for (at = kept++; at && share_is_before(&s, &list[at - 1]); at--)
			list[at] = list[at - 1];
		list[at] = s;
	}
	return kept;
}

size_t waited_divide(const struct sample *total, unsigned whole,
		     struct waited_share list[NR_WAITED])
{
	double rest[NR_WAITED], sum = 0;
	unsigned left = whole;
	size_t nr = 0;

	for (int i = 0; i < NR_WAITED; i++) {
		const enum metric_id id = waited_metric((enum waited)i);

		if (!sample_has(total, id) || !total->value[id])
			continue;
		list[nr++] =
			(struct waited_share){ .what = (enum waited)i, .ns = total->value[id] };
		sum += (double)total->value[id];
	}
	for (size_t i = 0; i < nr; i++) {
		const double exact = (double)list[i].ns / sum * whole;

		list[i].share = exact < left ? (unsigned)exact : left;
		rest[i] = exact - list[i].share;
		left -= list[i].share;
	}
	while (nr && left--) { /* to those that lost most by rounding */
		size_t most = 0;

		for (size_t i = 1; i < nr; i++)
			if (rest[i] > rest[most])
				most = i;
		list[most].share++;
		rest[most] = -1;
	}
	return shares_sort(list, nr);
}

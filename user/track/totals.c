// SPDX-License-Identifier: BSD-2-Clause
#include "track/totals.h"

#include <bpf/libbpf.h>
#include <string.h>

static void add_account(struct account *sum, const struct account *part)
{
	__u64 *to = (__u64 *)sum;
	const __u64 *from = (const __u64 *)part;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void totals_sum(const struct bpf_map *map, struct account *sum)
{
	struct account_key key, *previous = NULL;
	struct account one;

	memset(sum, 0, sizeof(*sum));
	while (!bpf_map__get_next_key(map, previous, &key, sizeof(key))) {
		if (!bpf_map__lookup_elem(map, &key, sizeof(key), &one, sizeof(one), 0))
			add_account(sum, &one);
		previous = &key;
	}
}

void totals_untear(struct account *a)
{
	uint64_t born = a->forks + a->roots;

	a->cpu = a->user + a->system;
	if (a->exits > born)
		a->exits = born;
	if (a->left > born - a->exits)
		a->left = born - a->exits;
	a->processes = born - a->exits - a->left;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "measure/accounts.h"

#include "base/memory.h"
#include "measure/iterator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int account_key_compare(const struct account_key *a, const struct account_key *b)
{
	if (a->tree != b->tree)
		return a->tree < b->tree ? -1 : 1;
	return a->cgroup < b->cgroup ? -1 : a->cgroup > b->cgroup;
}

int accounts_init(struct accounts *a, size_t most)
{
	*a = (struct accounts){
		.most = most,
		.keys = memory_calloc(most, sizeof(*a->keys)),
		.totals = memory_calloc(most, sizeof(*a->totals)),
		.spare_keys = memory_calloc(most, sizeof(*a->keys)),
		.spare_totals = memory_calloc(most, sizeof(*a->totals)),
	};
	return a->keys && a->totals && a->spare_keys && a->spare_totals ? 0 : -ENOMEM;
}

void accounts_done(struct accounts *a)
{
	free(a->keys);
	free(a->totals);
	free(a->spare_keys);
	free(a->spare_totals);
	*a = (struct accounts){ 0 };
}

int accounts_read(struct accounts *a, const struct bpf_map *map)
{
	struct account *totals = a->spare_totals;
	struct account_key *keys = a->spare_keys;
	struct map_walk walk = { .map = map };
	size_t nr = 0;
	int more = 1;

	while (nr < a->most && more > 0) {
		more = map_walk_next(&walk, &keys[nr], &totals[nr], a->most - nr);
		nr += more > 0 ? (size_t)more : 0;
	}
	if (more < 0)
		return more;
	a->spare_totals = a->totals;
	a->spare_keys = a->keys;
	a->totals = totals;
	a->keys = keys;
	a->nr = nr;
	return 0;
}

void account_add(struct account *sum, const struct account *part)
{
	__u64 *restrict to = (__u64 *)sum;
	const __u64 *restrict from = (const __u64 *)part;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void account_subtract(struct account *a, const struct account *part)
{
	__u64 *to = (__u64 *)a;
	const __u64 *from = (const __u64 *)part;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*to); i++)
		to[i] -= from[i] < to[i] ? from[i] : to[i];
}

void account_make_consistent(struct account *a)
{
	__u64 born = a->forks + a->roots + a->moved_in;

	a->cpu = a->user + a->system;
	if (a->exits > born)
		a->exits = born;
	if (a->left > born - a->exits)
		a->left = born - a->exits;
	if (a->moved_out > born - a->exits - a->left)
		a->moved_out = born - a->exits - a->left;
	a->processes = born - a->exits - a->left - a->moved_out;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/holder.h"

#include <stdlib.h>
#include <string.h>

static void holders_count_other(struct holders *all, struct holder *h)
{
	all->others++;
	all->others_bytes += h->rss_bytes;
	free(h->exe);
}

void holders_add(struct holders *all, const struct holder *h)
{
	struct holder one = *h;
	size_t at = all->nr;

	one.exe = h->exe ? strdup(h->exe) : NULL;
	while (at && all->largest[at - 1].rss_bytes < one.rss_bytes)
		at--;
	if (at == HOLDERS_KEPT) {
		holders_count_other(all, &one);
		return;
	}
	if (all->nr == HOLDERS_KEPT)
		holders_count_other(all, &all->largest[--all->nr]);
	memmove(&all->largest[at + 1], &all->largest[at], (all->nr - at) * sizeof(one));
	all->largest[at] = one;
	all->nr++;
}

void holders_done(struct holders *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->largest[i].exe);
	*all = (struct holders){ 0 };
}

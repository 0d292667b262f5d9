// SPDX-License-Identifier: BSD-2-Clause
#include "measure/row_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void row_list_clear(struct row_list *l)
{
	l->nr = l->nr_slices = 0;
}

int row_list_add(struct row_list *l, const struct slice *slice)
{
	size_t nr = l->nr + slice->nr;

	if (nr > l->room) {
		const struct drain_row **all = reallocarray(l->all, nr * 2, sizeof(*all));

		if (!all)
			return -ENOMEM;
		l->all = all;
		l->room = nr * 2;
	}
	memcpy(&l->all[l->nr], slice->rows, slice->nr * sizeof(*slice->rows));
	l->nr = nr;
	l->nr_slices++;
	return 0;
}

static int compare_memory(const void *a, const void *b)
{
	const struct drain_row *p = *(const struct drain_row *const *)a;
	const struct drain_row *q = *(const struct drain_row *const *)b;

	return rows_compare_memory(p, q);
}

void row_list_sort(struct row_list *l)
{
	if (l->nr_slices > 1)
		qsort(l->all, l->nr, sizeof(*l->all), compare_memory);
}

void row_list_done(struct row_list *l)
{
	free(l->all);
	*l = (struct row_list){ 0 };
}

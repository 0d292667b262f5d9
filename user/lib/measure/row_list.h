/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a drain that belong together, from the slices of one account or of several. */
#ifndef MEASURE_ROW_LIST_H
#define MEASURE_ROW_LIST_H

#include "measure/task_rows.h"

struct row_list {
	const struct drain_row **all; /* owned, the rows are not */
	size_t nr, room;
	size_t nr_slices;
};

/* Empties it, and keeps the memory. */
void row_list_clear(struct row_list *l);
/* -ENOMEM: the rows of @slice are not in it. */
int row_list_add(struct row_list *l, const struct slice *slice);
/* Sorts as each slice is, so that an address space which two accounts use is met once. */
void row_list_sort(struct row_list *l);
void row_list_done(struct row_list *l);

#endif

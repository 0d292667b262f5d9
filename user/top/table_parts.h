/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of rows have in common. */
#ifndef TOP_TABLE_PARTS_H
#define TOP_TABLE_PARTS_H

#include "top/top_table.h"

/* Rows being made, from the first one on. */
struct tree_walk {
	struct table *rows;
	const struct model *model;
	const struct scene *scene;
	const struct row_choice *choice;
	uint64_t guides;
};

/* Appends a row; NULL without memory. */
struct table_row *walk_add(struct tree_walk *w, struct row_key key, uint32_t index, unsigned depth,
			   bool is_last);
/* rows_ended.c: -ENOMEM. */
int table_add_ended(struct tree_walk *w);
int table_add_spans(struct tree_walk *w);
/* Makes room for @nr elements in the array that the pointer at @array owns. False: no memory. */
bool table_grow_array(void *array, size_t nr, size_t size);
void actor_values(const struct model *m, const struct scene *s, const struct actor *a,
		  struct row_values *v);

#endif

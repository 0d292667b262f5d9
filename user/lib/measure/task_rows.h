/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of a drain: a row for each process; and which processes the drain before it met. */
#ifndef MEASURE_TASK_ROWS_H
#define MEASURE_TASK_ROWS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows of one account, by the address space they use, the oldest process of each first. */
struct slice {
	struct account_key account;
	const struct drain_row *const *rows; /* not owned */
	size_t nr;
};

struct met {
	uint64_t serial, signal;
	bool is_alive;
};

struct rows {
	struct drain_row *all; /* owned; of the last drain, by process */
	size_t nr, room;
	size_t nr_blank; /* live processes that were met without memory */
	struct met *met; /* owned; of the drain before, by serial */
	size_t nr_met, room_met;
	const struct drain_row **by_memory; /* owned; the same, by account and address space */
	struct slice *slices;               /* owned */
	size_t nr_slices, room_sorted;
	uint64_t lost; /* rows that were not kept, for lack of memory */
};

static inline uint64_t row_resident_pages(const struct drain_row *row)
{
	return row->pages[RSS_FILE] + row->pages[RSS_ANON] + row->pages[RSS_SHMEM];
}

void rows_done(struct rows *r);
/* A drain begins: the rows of the last one become those of the drain before. */
void rows_begin(struct rows *r);
/* The same drain is done again: discards its rows so far. */
void rows_again(struct rows *r);
void rows_add(struct rows *r, const struct drain_row *row);
/*
 * The pass is over: of the two rows that a process of several tasks may have, the one with memory
 * is kept. Sorts them by process.
 */
void rows_settle(struct rows *r);
/* Makes the slices, after the last rows_settle(): they are valid until the next drain begins. */
void rows_sort(struct rows *r);
/*
 * Counts the processes of which the drain did not find the memory, and that are alive by @is_there:
 * those that only the drain before met (a pass may miss an entry while others come and go), and
 * those that were met without memory. After rows_settle().
 */
size_t rows_unread(const struct rows *r, bool (*is_there)(void *context, const struct met *m),
		   void *context);
/* True if the drain before met that process. */
bool rows_met_before(const struct rows *r, uint64_t serial);
/* The row of that process, or NULL, after rows_settle(). */
const struct drain_row *rows_find(const struct rows *r, uint64_t serial);

/* Rows of a drain that belong together, from the slices of one account or of several. */

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

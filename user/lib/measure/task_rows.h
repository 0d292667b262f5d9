/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of a drain, a row for each process, and the processes of the previous drain. */
#ifndef MEASURE_TASK_ROWS_H
#define MEASURE_TASK_ROWS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows of one account, sorted by address space; within one the oldest process comes first. */
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
	size_t nr_blank; /* live processes without memory in it */
	struct met *met; /* owned; of the previous drain, by serial */
	size_t nr_met, room_met;
	const struct drain_row **by_memory; /* owned; the rows by account and address space */
	struct slice *slices;               /* owned */
	size_t nr_slices, room_sorted;
	uint64_t lost; /* rows dropped for lack of memory */
};

static inline uint64_t row_resident_pages(const struct drain_row *row)
{
	return row->pages[RSS_FILE] + row->pages[RSS_ANON] + row->pages[RSS_SHMEM];
}

void rows_done(struct rows *r);
/* A drain begins: keeps the rows of the last one in @met. */
void rows_begin(struct rows *r);
/* Discards the rows of a drain that is repeated. */
void rows_discard(struct rows *r);
void rows_add(struct rows *r, const struct drain_row *row);
/*
 * Sorts by process at the end of a pass. Of the rows of several tasks of a process, the one with
 * memory is kept.
 */
void rows_settle(struct rows *r);
/* Makes the slices, after the last rows_settle(). They are valid until the next drain begins. */
void rows_sort(struct rows *r);
/*
 * Counts the live processes whose memory the drain did not find: those that only the previous drain
 * met (a pass may miss an entry while others come and go), and those met without memory. @is_there
 * returns true for live ones. Call after rows_settle().
 */
size_t rows_unread(const struct rows *r, bool (*is_there)(void *context, const struct met *m),
		   void *context);
/* Returns true if the previous drain met the process. */
bool rows_met_before(const struct rows *r, uint64_t serial);
/* Returns the row of the process, or NULL. Call after rows_settle(). */
const struct drain_row *rows_find(const struct rows *r, uint64_t serial);

/* Rows of one drain from the slices of one or more accounts. */
struct row_list {
	const struct drain_row **all; /* owned array; the rows are not owned */
	size_t nr, room;
	size_t nr_slices;
};

/* Empties the list without freeing memory. */
void row_list_clear(struct row_list *l);
/* Returns 0, or -ENOMEM: nothing was added. */
int row_list_add(struct row_list *l, const struct slice *slice);
/* Sorts by address space, so that one used by two accounts is met once. */
void row_list_sort(struct row_list *l);
void row_list_done(struct row_list *l);

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "measure/task_rows.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rows_done(struct rows *r)
{
	free(r->all);
	free(r->met);
	free(r->by_memory);
	free(r->slices);
	*r = (struct rows){ 0 };
}

static int compare_met(const void *a, const void *b)
{
	const struct met *p = a, *q = b;

	return p->serial < q->serial ? -1 : p->serial > q->serial;
}

/* Of one process, the row with memory comes first. */
static int compare_process(const void *a, const void *b)
{
	const struct drain_row *p = a, *q = b;

	if (p->serial != q->serial)
		return p->serial < q->serial ? -1 : 1;
	return !p->mm - !q->mm;
}

/*
 * Memory is read through the first task of a process that still has its address space: a task
 * without one emits a row without memory, and the row with memory is kept. If a process of the last
 * drain is missing, up to three more passes look for it; then it is counted as the loss
 * `process_memory`.
 */

void rows_begin(struct rows *r)
{
	if (r->room_met < r->room) {
		struct met *met = memory_reallocarray(r->met, r->room, sizeof(*met));

		if (!met)
			r->lost += r->nr;
		else
			r->met = met;
		r->room_met = met ? r->room : r->room_met;
	}
	r->nr_met = 0;
	for (size_t i = 0; i < r->nr && r->nr_met < r->room_met; i++)
		r->met[r->nr_met++] = (struct met){ r->all[i].serial, r->all[i].signal,
						    r->all[i].flags & ROW_ALIVE };
	if (r->nr_met)
		qsort(r->met, r->nr_met, sizeof(*r->met), compare_met);
	r->nr = 0;
}

void rows_discard(struct rows *r)
{
	r->nr = 0;
}

void rows_add(struct rows *r, const struct drain_row *row)
{
	if (r->nr == r->room) {
		size_t room = r->room ? r->room * 2 : 256;
		struct drain_row *all = memory_reallocarray(r->all, room, sizeof(*all));

		if (!all) {
			r->lost++;
			return;
		}
		r->all = all;
		r->room = room;
	}
	r->all[r->nr++] = *row;
}

static bool is_blank(const struct drain_row *row)
{
	return row->flags & ROW_ALIVE && !row->mm;
}

void rows_settle(struct rows *r)
{
	size_t n = 0;

	if (r->nr)
		qsort(r->all, r->nr, sizeof(*r->all), compare_process);
	for (size_t i = 0; i < r->nr; i++)
		if (!n || r->all[n - 1].serial != r->all[i].serial)
			r->all[n++] = r->all[i];
	r->nr = n;
	r->nr_blank = 0;
	for (size_t i = 0; i < n; i++)
		r->nr_blank += is_blank(&r->all[i]);
}

/*
 * Order within a slice. The oldest sharer of an address space comes first, which everywhere is the
 * one that its memory is counted for.
 */
static int rows_compare_memory(const struct drain_row *p, const struct drain_row *q)
{
	if (p->mm != q->mm)
		return p->mm < q->mm ? -1 : 1;
	if (p->start_boot_ns != q->start_boot_ns)
		return is_earlier(p->start_boot_ns, q->start_boot_ns) ? -1 : 1;
	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static int compare_slices(const void *a, const void *b)
{
	const struct drain_row *p = *(const struct drain_row *const *)a;
	const struct drain_row *q = *(const struct drain_row *const *)b;
	int order = account_key_compare(&p->account, &q->account);

	return order ? order : rows_compare_memory(p, q);
}

static bool make_room_sorted(struct rows *r)
{
	const struct drain_row **sorted;
	struct slice *slices;

	if (r->nr <= r->room_sorted)
		return true;
	sorted = memory_reallocarray(r->by_memory, r->room, sizeof(*sorted));
	if (!sorted)
		return false;
	r->by_memory = sorted;
	slices = memory_reallocarray(r->slices, r->room, sizeof(*slices));
	if (!slices)
		return false;
	r->slices = slices;
	r->room_sorted = r->room;
	return true;
}

void rows_sort(struct rows *r)
{
	struct slice *last = NULL;

	r->nr_slices = 0;
	if (!make_room_sorted(r)) {
		r->lost += r->nr;
		r->nr = 0;
	}
	for (size_t i = 0; i < r->nr; i++)
		r->by_memory[i] = &r->all[i];
	if (r->nr)
		qsort(r->by_memory, r->nr, sizeof(*r->by_memory), compare_slices);
	for (size_t i = 0; i < r->nr; i++) {
		const struct drain_row *row = r->by_memory[i];

		if (!last || account_key_compare(&last->account, &row->account)) {
			last = &r->slices[r->nr_slices++];
			*last = (struct slice){ row->account, &r->by_memory[i], 0 };
		}
		last->nr++;
	}
}

size_t rows_unread(const struct rows *r, bool (*is_there)(void *context, const struct met *m),
		   void *context)
{
	size_t n = 0;

	for (size_t i = 0; r->nr_blank && i < r->nr; i++) {
		const struct drain_row *row = &r->all[i];
		const struct met m = { row->serial, row->signal, true };

		n += is_blank(row) && is_there(context, &m);
	}
	for (size_t i = 0; i < r->nr_met; i++)
		n += r->met[i].is_alive && !rows_find(r, r->met[i].serial) &&
		     is_there(context, &r->met[i]);
	return n;
}

bool rows_met_before(const struct rows *r, uint64_t serial)
{
	const struct met key = { .serial = serial };

	return r->nr_met && bsearch(&key, r->met, r->nr_met, sizeof(key), compare_met);
}

static int compare_serial(const void *key, const void *item)
{
	const uint64_t *serial = key;
	const struct drain_row *row = item;

	return *serial < row->serial ? -1 : *serial > row->serial;
}

const struct drain_row *rows_find(const struct rows *r, uint64_t serial)
{
	return r->nr ? bsearch(&serial, r->all, r->nr, sizeof(*r->all), compare_serial) : NULL;
}

void row_list_clear(struct row_list *l)
{
	l->nr = l->nr_slices = 0;
}

int row_list_add(struct row_list *l, const struct slice *slice)
{
	size_t nr = l->nr + slice->nr;

	if (nr > l->room) {
		const struct drain_row **all = memory_reallocarray(l->all, nr * 2, sizeof(*all));

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

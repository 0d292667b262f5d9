// SPDX-License-Identifier: BSD-2-Clause
#include "page/held.h"

#include "base/memory.h"
#include "base/number.h"
#include "page/excerpt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 256       /* buckets; limits the size of the page */
#define TEXT_SHOWN 120 /* bytes of a name in the page */
/* Columns after those of the groups: other sampled processes, unsampled memory, and all. */
#define OTHERS(h) (h)->nr
#define REST(h) ((h)->nr + 1)
#define ALL(h) ((h)->nr + 2)

void held_done(struct report_held *h)
{
	free(h->programs);
	downsampler_done(&h->sampler);
	*h = (struct report_held){ 0 };
}

static bool held_group_has(const struct held_group *g, const struct process_sample *p)
{
	if (g->pid)
		return g->pid == p->pid && g->start_epoch_ns == p->start_epoch_ns;
	return !strcmp(g->comm, p->comm);
}

static struct held_group *held_groups_find(struct held_group *all, size_t nr,
					   const struct process_sample *p)
{
	for (size_t i = 0; i < nr; i++)
		if (held_group_has(&all[i], p))
			return &all[i];
	return NULL;
}

static void group_set(struct held_group *g, const struct process_sample *p, bool is_process)
{
	*g = (struct held_group){ .pid = is_process ? p->pid : 0,
				  .start_epoch_ns = p->start_epoch_ns };
	memcpy(g->comm, p->comm, sizeof(g->comm));
}

static int programs_make_room(struct report_held *h)
{
	size_t room = h->room ? h->room * 2 : 16;
	struct held_group *all;

	if (h->nr_programs < h->room)
		return 0;
	all = memory_reallocarray(h->programs, room, sizeof(*all));
	if (!all)
		return -ENOMEM;
	h->programs = all;
	h->room = room;
	return 0;
}

/* Finds or adds the group named like @p. *@g is NULL if there are too many. */
static int programs_get(struct report_held *h, const struct process_sample *p,
			struct held_group **g)
{
	int err;

	*g = held_groups_find(h->programs, h->nr_programs, p);
	if (*g || h->nr_programs == HELD_PROGRAMS)
		return 0;
	err = programs_make_room(h);
	if (err)
		return err;
	*g = &h->programs[h->nr_programs++];
	group_set(*g, p, false);
	return 0;
}

/* After an exec the last name is kept. */
static void held_count_process(struct report_held *h, const struct process_sample *p)
{
	struct held_group *g = held_groups_find(h->group, h->nr, p);

	if (h->by_program)
		return;
	if (!g && h->nr == HELD_GROUPS)
		h->by_program = true;
	else
		group_set(g ? g : &h->group[h->nr++], p, true);
}

int held_count(struct report_held *h, const struct process_sample *p)
{
	struct held_group *g;
	int err = programs_get(h, p, &g);

	held_count_process(h, p);
	if (err || !g)
		return err;
	if (g->now_ns != p->elapsed_ns)
		g->now_bytes = 0;
	g->now_ns = p->elapsed_ns;
	g->now_bytes += p->value[M_rss];
	if (g->now_bytes > g->most_bytes)
		g->most_bytes = g->now_bytes;
	return 0;
}

static int group_compare(const void *a, const void *b)
{
	const struct held_group *x = a, *y = b;

	if (x->most_bytes != y->most_bytes)
		return x->most_bytes < y->most_bytes ? 1 : -1;
	return strcmp(x->comm, y->comm);
}

int held_choose(struct report_held *h)
{
	if (!h->nr)
		return 0;
	if (h->by_program) {
		qsort(h->programs, h->nr_programs, sizeof(*h->programs), group_compare);
		h->nr = h->nr_programs < HELD_GROUPS ? h->nr_programs : HELD_GROUPS;
		memcpy(h->group, h->programs, h->nr * sizeof(*h->group));
	}
	return downsampler_init(&h->sampler, (unsigned)ALL(h) + 1, ROOM);
}

/* The listed memory may exceed the total a little, because it was read later. */
static void held_end_row(struct report_held *h)
{
	double listed = 0;

	if (!h->is_known || !h->nr_read)
		return;
	for (size_t i = 0; i <= OTHERS(h); i++)
		listed += h->row.value[i];
	if (h->row_processes > h->nr_read && h->row_processes - h->nr_read > h->unsampled)
		h->unsampled = h->row_processes - h->nr_read;
	h->row.value[REST(h)] = h->row.value[ALL(h)] > listed ? h->row.value[ALL(h)] - listed : 0;
	downsampler_add(&h->sampler, &h->row, h->row_weight);
}

void held_add_sample(struct report_held *h, const struct sample *s)
{
	if (!h->nr)
		return;
	held_end_row(h);
	h->row_weight =
		s->elapsed_ns > h->row_ns ? (double)(s->elapsed_ns - h->row_ns) / 1e9 : 1e-9;
	h->row = (struct downsampler_row){ .seconds = (double)s->elapsed_ns / 1e9 };
	h->row.value[ALL(h)] = (double)s->value[M_rss];
	h->row_ns = s->elapsed_ns;
	h->row_processes = sample_has(s, M_processes) ? s->value[M_processes] : 0;
	h->is_known = sample_has(s, M_rss);
	h->nr_read = 0;
}

void held_add_process(struct report_held *h, const struct process_sample *p)
{
	struct held_group *g = held_groups_find(h->group, h->nr, p);

	if (p->elapsed_ns != h->row_ns)
		return;
	h->nr_read++;
	h->row.value[g ? (size_t)(g - h->group) : OTHERS(h)] += (double)p->value[M_rss];
}

static void held_write_names(const struct report_held *h, struct jsonw *j)
{
	char text[COMM_TEXT_BYTES + 16];

	jsonw_array(j, "names");
	for (size_t i = 0; i < h->nr; i++) {
		const char *comm = *h->group[i].comm ? h->group[i].comm : "?";

		if (h->by_program)
			snprintf(text, sizeof(text), "%s", comm);
		else
			snprintf(text, sizeof(text), "%s (%d)", comm, h->group[i].pid);
		excerpt_put(j, text, TEXT_SHOWN, CUT_END);
	}
	jsonw_array_end(j);
}

struct held_rows {
	struct downsampler_bucket *list; /* owned */
	size_t nr;
};

static void held_write_column(const struct held_rows *r, const char *key, enum bucket_value kind,
			      size_t k, struct jsonw *j)
{
	jsonw_array(j, key);
	for (size_t i = 0; i < r->nr; i++)
		jsonw_uint(j, NULL, number_clamp(r->list[i].value[kind][k]));
	jsonw_array_end(j);
}

static void held_write_rows(const struct report_held *h, const struct held_rows *r, struct jsonw *j)
{
	jsonw_array(j, "time");
	for (size_t i = 0; i < r->nr; i++)
		jsonw_decimal(j, NULL, number_clamp(r->list[i].seconds * 1e6), 6);
	jsonw_array_end(j);
	jsonw_array(j, "columns");
	for (size_t k = 0; k <= REST(h); k++)
		held_write_column(r, NULL, BUCKET_MEAN, k, j);
	jsonw_array_end(j);
	if (h->sampler.each == 1)
		return;
	jsonw_array(j, "most");
	for (size_t k = 0; k <= ALL(h); k++)
		held_write_column(r, NULL, BUCKET_MOST, k, j);
	jsonw_array_end(j);
	held_write_column(r, "least", BUCKET_LEAST, ALL(h), j);
}

int held_write(struct report_held *h, struct jsonw *j)
{
	struct held_rows rows;

	if (!h->nr)
		return 0;
	held_end_row(h);
	h->nr_read = 0;
	rows.list = downsampler_get(&h->sampler, &rows.nr);
	if (!rows.list)
		return -ENOMEM;
	if (rows.nr) {
		jsonw_object(j, "held");
		jsonw_string(j, "by", h->by_program ? "program" : "process");
		held_write_names(h, j);
		jsonw_uint(j, "unsampled", h->unsampled);
		jsonw_uint(j, "each", h->sampler.each);
		held_write_rows(h, &rows, j);
		jsonw_object_end(j);
	}
	free(rows.list);
	return 0;
}

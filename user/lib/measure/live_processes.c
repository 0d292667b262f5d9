// SPDX-License-Identifier: BSD-2-Clause
#include "measure/live_processes.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/record.h"
#include "run/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_weight(const void *a, const void *b)
{
	const struct drain_row *p = *(const struct drain_row *const *)a;
	const struct drain_row *q = *(const struct drain_row *const *)b;
	__u64 m = row_resident_pages(p), n = row_resident_pages(q);

	if (m != n)
		return m < n ? 1 : -1;
	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

/* Returns true if @a, of two processes that share memory, is to be listed. */
static bool is_first(const struct drain_row *a, const struct drain_row *b)
{
	if (a->start_boot_ns != b->start_boot_ns)
		return is_earlier(a->start_boot_ns, b->start_boot_ns);
	return a->pid < b->pid;
}

static int heaviest_make_room(struct heaviest *h, size_t n)
{
	const struct drain_row **rows;

	if (n <= h->room)
		return 0;
	rows = memory_reallocarray(h->rows, n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	h->rows = rows;
	h->room = n;
	return 0;
}

int heaviest_find(struct heaviest *h, const struct drain_row *const *rows, size_t nr_rows,
		  size_t most)
{
	int err = heaviest_make_room(h, nr_rows);

	h->nr = 0;
	if (err)
		return err;
	for (size_t i = 0; i < nr_rows; i++) {
		const struct drain_row *r = rows[i];
		const struct drain_row **last = h->nr ? &h->rows[h->nr - 1] : NULL;

		if (r->end_boot_ns || !r->mm)
			continue;
		if (!last || (*last)->mm != r->mm)
			h->rows[h->nr++] = r;
		else if (is_first(r, *last))
			*last = r;
	}
	if (h->nr)
		qsort(h->rows, h->nr, sizeof(*h->rows), compare_weight);
	if (h->nr > most)
		h->nr = most;
	return 0;
}

void heaviest_done(struct heaviest *h)
{
	free(h->rows);
	*h = (struct heaviest){ 0 };
}

static void process_sample_set(struct process_sample *p, enum metric_id id, uint64_t value)
{
	p->value[id] = value;
	metric_put(&p->have, id);
}

/* The arguments of a set-user-ID program may be another user's choice. */
bool tally_view_shows(const struct tally_view *v, const struct process_record *r)
{
	const struct image *image = images_find(&v->books->images, r->image);
	const uid_t user = v->shown_to;

	return !v->hides_others ||
	       (r->uid == user && (!image || (image->uid == user && !image->has_mixed_ids)));
}

static void process_sample_take_gpus(struct process_sample *p, const struct tally_view *v,
				     const struct drain_row *row)
{
	const struct gpu_desk *gpus = &v->books->gpus;
	struct gpu_used used;
	uint64_t bytes;

	if (!gpu_pasts_sum(&gpus->pasts, row->serial, &used))
		return;
	if (used.has & GPU_BUSY && metric_has(&v->run->usable, M_gpu))
		process_sample_set(p, M_gpu, used.busy_ns);
	if (metric_has(&v->run->usable, M_gpu_memory) &&
	    gpu_desk_memory(gpus, row->pid, row->serial, &bytes))
		process_sample_set(p, M_gpu_memory, bytes);
}

void process_sample_take(struct process_sample *p, const struct tally_view *v,
			 const struct drain_row *row, uint64_t elapsed_ns)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	*p = (struct process_sample){
		.elapsed_ns = elapsed_ns,
		.pid = (int32_t)row->pid,
		.start_epoch_ns = row->start_boot_ns + v->epoch_less_boot_ns,
	};
	process_sample_set(p, M_rss, row_resident_pages(row) * page);
	process_sample_set(p, M_rss_anon, row->pages[RSS_ANON] * page);
	process_sample_set(p, M_swap, row->pages[RSS_SWAP] * page);
	process_sample_take_gpus(p, v, row);
}

static void process_sample_write(struct tally_view *v, const struct drain_row *row,
				 uint64_t elapsed_ns, struct jsonw *lines)
{
	struct process_sample p;
	struct process_record r;

	process_sample_take(&p, v, row, elapsed_ns);
	if (!tracker_process(&v->books->tracker, row, &r, NULL)) {
		comm_copy(p.comm, r.comm, sizeof(r.comm));
		if (metric_has(&v->run->usable, M_cpu))
			process_sample_set(&p, M_cpu, r.counters.cpu);
	}
	write_process_sample(lines, v->run->start_epoch_ns, &p);
}

void heaviest_write(struct heaviest *h, struct tally_view *v, size_t most, struct jsonw *lines)
{
	jsonw_reset(lines);
	if (!most)
		return;
	if (heaviest_find(h, v->tally.rows.all, v->tally.rows.nr, most))
		v->tally.forgone++;
	for (size_t i = 0; i < h->nr; i++)
		process_sample_write(v, h->rows[i], v->smp.elapsed_ns, lines);
}

/* Returns false if the process was freed since the drain; its record will come. */
static bool process_take_record(struct process_sample *p, struct tally_view *v,
				const struct drain_row *row, bool shows_all)
{
	const struct image *image;
	struct process_record r;
	unsigned threads;

	if (tracker_process(&v->books->tracker, row, &r, &threads))
		return false;
	image = images_find(&v->books->images, r.image);
	comm_copy(p->comm, r.comm, sizeof(r.comm));
	p->has_parent = true;
	p->ppid = (int32_t)r.ppid;
	p->uid = r.uid;
	if (image && (shows_all || tally_view_shows(v, &r)))
		p->exe = image->exe;
	record_read_counters(&r, &v->run->usable, p->value, &p->have);
	p->value[M_threads] = threads;
	metric_put(&p->have, M_threads);
	return true;
}

uint64_t live_processes_write(struct tally_view *v, bool shows_all, struct jsonw *lines)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < v->tally.rows.nr; i++) {
		const struct drain_row *row = v->tally.rows.all[i];
		struct process_sample p;

		if (row->end_boot_ns)
			continue;
		process_sample_take(&p, v, row, v->smp.elapsed_ns);
		if (!process_take_record(&p, v, row, shows_all))
			continue;
		write_process_sample(lines, v->run->start_epoch_ns, &p);
		nr++;
	}
	return nr;
}

static void live_processes_put(struct tally_view *v, bool shows_all)
{
	struct jsonw lines = { 0 };
	uint64_t nr;

	if (!feeds_want_processes(&v->feeds, shows_all))
		return;
	nr = live_processes_write(v, shows_all, &lines);
	feeds_put_processes(&v->feeds, shows_all, &lines, nr);
	jsonw_done(&lines);
}

void live_processes_publish(struct tally_view *v)
{
	live_processes_put(v, false);
	live_processes_put(v, true);
}

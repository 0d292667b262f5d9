// SPDX-License-Identifier: BSD-2-Clause
/* At each sample: the processes that hold the most memory, and their lines. */
#include "measure/heaviest.h"

#include "base/clock.h"
#include "measure/job.h"
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

/* Whether @a, of two processes that share their memory, is the one to be listed. */
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
	rows = reallocarray(h->rows, n, sizeof(*rows));
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

void process_sample_take(struct process_sample *p, const struct job *job,
			 const struct drain_row *row, uint64_t elapsed_ns)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	*p = (struct process_sample){
		.elapsed_ns = elapsed_ns,
		.pid = (int32_t)row->pid,
		.start_epoch_ns = row->start_boot_ns + job->epoch_less_boot_ns,
	};
	process_sample_set(p, M_rss, row_resident_pages(row) * page);
	process_sample_set(p, M_rss_anon, row->pages[RSS_ANON] * page);
	process_sample_set(p, M_swap, row->pages[RSS_SWAP] * page);
}

static void process_sample_write(struct job *job, const struct drain_row *row, uint64_t elapsed_ns,
				 struct jsonw *lines)
{
	struct process_sample p;
	struct process_record r;

	process_sample_take(&p, job, row, elapsed_ns);
	if (!tracker_process(&job->books->tracker, row, &r, NULL)) {
		comm_copy(p.comm, r.comm, sizeof(r.comm));
		if (metric_has(&job->run->usable, M_cpu))
			process_sample_set(&p, M_cpu, r.counters.cpu);
	}
	write_process_sample(lines, job->run->start_epoch_ns, &p);
}

void job_write_heaviest(struct job *job, const struct sample *smp, struct jsonw *lines)
{
	struct heaviest *h = &job->heaviest;

	jsonw_reset(lines);
	if (!job->spec->process_samples)
		return;
	if (heaviest_find(h, job->rows.all, job->rows.nr, job->spec->process_samples))
		job->forgone++;
	for (size_t i = 0; i < h->nr; i++)
		process_sample_write(job, h->rows[i], smp->elapsed_ns, lines);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "measure/tally.h"

#include "measure/record.h"

#include <string.h>
#include <unistd.h>

void tally_init(struct tally *t, const struct metric_set *usable)
{
	memset(t, 0, sizeof(*t));
	t->usable = usable;
	t->summary.complete = true;
}

void tally_done(struct tally *t)
{
	row_list_done(&t->rows);
	memory_bound_done(&t->bound);
	gpu_tally_done(&t->gpu);
	summary_done(&t->summary);
}

void tally_drain_begin(struct tally *t)
{
	memory_bound_drain(&t->bound);
	memset(&t->totals, 0, sizeof(t->totals));
	row_list_clear(&t->rows);
}

void tally_total(struct tally *t, const struct account *total)
{
	account_add(&t->totals, total);
}

void tally_slice(struct tally *t, const struct slice *slice)
{
	if (row_list_add(&t->rows, slice))
		t->forgone += slice->nr;
}

void tally_drain_end(struct tally *t, const struct gpu_desk *gpus)
{
	account_make_consistent(&t->totals);
	row_list_sort(&t->rows);
	t->forgone += gpu_tally_drain(&t->gpu, gpus, &t->rows) != 0;
}

void tally_end_interval(struct tally *t, const struct rows *drain, uint64_t drain_ns)
{
	memory_bound_interval(&t->bound, t->rows.all, t->rows.nr, drain, drain_ns);
}

void tally_take_account(struct tally *t, const struct gpu_desk *gpus, uint64_t serial)
{
	const uint64_t bytes = gpu_tally_end(&t->gpu, gpus, serial);

	if (bytes > t->summary.gpu_memory_peak_bytes)
		t->summary.gpu_memory_peak_bytes = bytes;
}

void tally_record(struct tally *t, const struct process_record *r, bool is_left)
{
	if (!is_left)
		memory_bound_ended(&t->bound, r);
}

void tally_put_totals(const struct tally *t, struct sample *smp, const struct account *totals)
{
	const struct metric_set *usable = t->usable;

#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, totals->base);
#define DELAY_METRIC(base, ...)                                                                    \
	if (metric_has(usable, M_##base) && !totals->without_delays &&                             \
	    !(M_##base == M_blkio_delay && totals->blkio_wrong))                                   \
		sample_set(smp, M_##base, totals->base);
#define SPLIT_METRIC TASK_METRIC
#define ACCOUNT_METRIC TASK_METRIC
#define NET_METRIC(base, ...)                                                                      \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, totals->calls.base);
#define REST_METRIC(base, group, kind, unit, of, help)                                             \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base,                                                          \
			   kinds_remainder(totals->of, totals->calls.of##_files,                   \
					   totals->calls.of##_sockets, totals->calls.of##_pipes,   \
					   totals->calls.of##_other));
#include "bpfmon/metrics.def"
}

void memory_sum(const struct drain_row *const *rows, size_t nr_rows,
		const struct metric_set *usable, struct sample *smp)
{
	uint64_t pages[NR_RSS] = { 0 }, vms = 0, tables = 0, huge = 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t sums[NR_METRICS] = { 0 };

	for (size_t i = 0; i < nr_rows; i++) {
		if (!rows[i]->mm || (i && rows[i]->mm == rows[i - 1]->mm))
			continue;
		for (int k = 0; k < NR_RSS; k++)
			pages[k] += rows[i]->pages[k];
		vms += rows[i]->vms_pages;
		huge += rows[i]->hugetlb_pages;
		tables += rows[i]->page_table_bytes;
	}
	sums[M_rss] = (pages[RSS_ANON] + pages[RSS_FILE] + pages[RSS_SHMEM]) * page;
	sums[M_rss_anon] = pages[RSS_ANON] * page;
	sums[M_rss_file] = pages[RSS_FILE] * page;
	sums[M_rss_shmem] = pages[RSS_SHMEM] * page;
	sums[M_swap] = pages[RSS_SWAP] * page;
	sums[M_hugetlb] = huge * page;
	sums[M_page_tables] = tables;
	sums[M_vms] = vms * page;
#define MEMORY_METRIC(base, ...)                                                                   \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, sums[M_##base]);
#include "bpfmon/metrics.def"
}

void tally_put_memory(const struct tally *t, struct sample *smp)
{
	memory_sum(t->rows.all, t->rows.nr, t->usable, smp);
}

uint64_t processes_born(const struct account *sum)
{
	const uint64_t came = sum->forks + sum->roots + sum->moved_in;

	return came > sum->moved_out ? came - sum->moved_out : 0;
}

static const char *const loss_names[NR_LOSSES] = {
	[LOSS_TASKS_FULL] = "tasks",   [LOSS_PROCESSES_FULL] = "processes",
	[LOSS_ACCOUNTS] = "accounts",  [LOSS_RECORDS] = "process_records",
	[LOSS_EXECS] = "exec_events",  [LOSS_STALE] = "free_events",
	[LOSS_MMS] = "address_spaces", [LOSS_OOM] = "oom_events",
};

const char *loss_name(int loss)
{
	return loss_names[loss];
}

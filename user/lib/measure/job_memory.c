// SPDX-License-Identifier: BSD-2-Clause
#include "measure/job_memory.h"

#include <unistd.h>

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

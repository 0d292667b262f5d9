// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Resident memory and high-water marks, read from the kernel's counters. */
#include "memory.bpf.h"

const volatile __u32 nr_cpus;
const volatile bool want_memory;

/* Offset from a per-CPU pointer to the data of each CPU; set by memory__offsets. */
__u64 cpu_offset[MAX_CPUS];
bool cpu_offset_known;

/* Layout up to 6.1: plain counters, with a small cache in each task. */
struct mm_rss_stat___6_1 {
	struct {
		long counter;
	} count[4]; /* atomic_long_t: CO-RE finds the field only if the kind matches */
} __attribute__((preserve_access_index));
struct mm_struct___6_1 {
	struct mm_rss_stat___6_1 rss_stat;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} percpu_probe SEC(".maps");

__u64 laundered; /* the verifier takes a pointer that was stored here and read back as a number */

/*
 * Computes the offset of each CPU: the address of a per-CPU element minus its per-CPU pointer. Run
 * once.
 */
SEC("?syscall")
int memory__offsets(void *ctx)
{
	struct bpf_array *array;
	u32 zero = 0;
	u64 base;

	laundered = (u64)&percpu_probe;
	array = (struct bpf_array *)*(volatile u64 *)&laundered;
	base = (u64)BPF_CORE_READ(array, pptrs[0]);
	for (u32 cpu = 0; cpu < MAX_CPUS && cpu < nr_cpus; cpu++) {
		void *v = bpf_map_lookup_percpu_elem(&percpu_probe, &zero, cpu);

		if (!v)
			return 0;
		laundered = (u64)v;
		cpu_offset[cpu] = *(volatile u64 *)&laundered - base;
	}
	cpu_offset_known = true;
	return 0;
}

/*
 * Reads the central parts of the counters, which are per-CPU since 6.2, and returns the address of
 * their per-CPU parts, or 0. The central part may be off by a batch for each CPU; the sum over CPUs
 * is what procfs reports. The four counters are allocated side by side, so one read gets all four
 * of a CPU: a remote CPU's cache line is expensive.
 */
static __always_inline u64 rss_read_central(struct mm_struct *mm, s64 rss[NR_RSS])
{
	/* CO-RE does not know the stride of an array with a variable index */
	const u32 size = bpf_core_type_size(struct percpu_counter);
	struct percpu_counter *c = (void *)mm + bpf_core_field_offset(struct mm_struct, rss_stat);
	u64 base = (u64)BPF_CORE_READ(c, counters);

	for (int i = 0; i < NR_RSS; i++) {
		rss[i] = BPF_CORE_READ(c, count);
		c = (void *)c + size;
		if (!i && (u64)BPF_CORE_READ(c, counters) != base + sizeof(s32))
			base = 0; /* not side by side: only the central parts are read */
	}
	return cpu_offset_known ? base : 0;
}

static __always_inline void rss_add_cpu(s64 rss[NR_RSS], u64 base, u32 cpu)
{
	s32 part[NR_RSS];

	if (bpf_probe_read_kernel(part, sizeof(part), (void *)(base + cpu_offset[cpu])))
		return;
	for (int i = 0; i < NR_RSS; i++)
		rss[i] += part[i];
}

static __always_inline void rss_read(struct mm_struct *mm, s64 rss[NR_RSS])
{
	struct mm_struct___6_1 *old = (void *)mm;
	u64 base;

	if (bpf_core_field_exists(old->rss_stat.count)) {
		bpf_core_read(rss, NR_RSS * sizeof(*rss), &old->rss_stat.count);
		return;
	}
	base = rss_read_central(mm, rss);
	for (u32 cpu = 0; base && cpu < MAX_CPUS && cpu < nr_cpus; cpu++)
		rss_add_cpu(rss, base, cpu);
}

/*
 * Returns 0 for negative counters: one that changes while it is summed can come out below zero.
 * Branch-free, see is_set().
 */
static __always_inline u64 pages_clamp(s64 pages)
{
	return pages & ~(pages >> 63);
}

static __always_inline u64 rss_sum(const s64 rss[NR_RSS])
{
	return pages_clamp(rss[RSS_FILE]) + pages_clamp(rss[RSS_ANON]) +
	       pages_clamp(rss[RSS_SHMEM]);
}

__hidden u64 resident_read(struct mm_struct *mm)
{
	s64 rss[NR_RSS] = {};

	rss_read(mm, rss);
	return rss_sum(rss);
}

/*
 * Reads only this CPU: pages that the creator counted on another one before it migrated are left
 * out.
 */
u64 resident_read_at_birth(u64 addr)
{
	struct mm_struct *mm = (struct mm_struct *)addr;
	struct mm_struct___6_1 *old = (void *)addr;
	s64 rss[NR_RSS] = {};
	u64 base;

	if (bpf_core_field_exists(old->rss_stat.count)) {
		bpf_core_read(rss, sizeof(rss), &old->rss_stat.count);
		return rss_sum(rss);
	}
	base = rss_read_central(mm, rss);
	if (base)
		rss_add_cpu(rss, base, bpf_get_smp_processor_id() & (MAX_CPUS - 1));
	return rss_sum(rss);
}

__hidden s64 rss_central_read(struct mm_struct *mm, u32 member)
{
	/* CO-RE does not know the stride of an array with a variable index */
	struct mm_struct___6_1 *old = (void *)mm;
	u64 at = (u64)mm;
	s64 central = 0;

	if (bpf_core_field_exists(old->rss_stat.count))
		at += bpf_core_field_offset(struct mm_struct___6_1, rss_stat.count) +
		      member * sizeof(central);
	else
		at += bpf_core_field_offset(struct mm_struct, rss_stat) +
		      member * bpf_core_type_size(struct percpu_counter) +
		      bpf_core_field_offset(struct percpu_counter, count);
	bpf_probe_read_kernel(&central, sizeof(central), (void *)at);
	return central;
}

__hidden void marks_read(struct mm_struct *mm, u64 resident, struct seen_marks *now)
{
	now->mm = (u64)mm;
	now->kernel_pages = BPF_CORE_READ(mm, hiwater_rss);
	now->largest_pages = now->kernel_pages > resident ? now->kernel_pages : resident;
}

__hidden void memory_read(struct mm_struct *mm, struct drain_row *row, struct seen_marks *now)
{
	s64 rss[NR_RSS] = {};

	rss_read(mm, rss);
	for (int i = 0; i < NR_RSS; i++)
		row->pages[i] = pages_clamp(rss[i]);
	row->page_table_bytes = BPF_CORE_READ(mm, pgtables_bytes.counter);
	row->vms_pages = BPF_CORE_READ(mm, total_vm);
	if (bpf_core_field_exists(mm->hugetlb_usage))
		row->hugetlb_pages = pages_clamp(BPF_CORE_READ(mm, hugetlb_usage.counter));
	marks_read(mm, rss_sum(rss), now);
}

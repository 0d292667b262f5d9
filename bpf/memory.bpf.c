// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Resident memory as the kernel counts it, and the high-water mark of each image. */
#include "bpfmon.bpf.h"

const volatile __u32 nr_cpus;
const volatile bool want_memory;

/* What to add to a per-CPU pointer for each CPU; found by memory__offsets. */
__u64 cpu_offset[MAX_CPUS];
bool cpu_offset_known;

/* The kernel's MM_FILEPAGES and so on, the same in every version that we run on. */
enum rss_counter { RSS_FILE, RSS_ANON, RSS_SWAP, RSS_SHMEM };

/* Up to 6.1 plain counters, with a small cache in each task. */
struct mm_rss_stat___6_1 {
	atomic_long_t count[4];
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

__u64 laundered; /* a pointer that passes through memory is a number */

/* Run once: the address of a per-CPU element less its per-CPU pointer is the CPU's offset. */
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
 * Since 6.2 @counter is a per-CPU counter whose central part may be off by a batch for each CPU;
 * the sum over CPUs is what procfs would say.
 */
static __always_inline u64 pages(struct mm_struct *mm, enum rss_counter counter)
{
	s64 sum;

	if (bpf_core_type_exists(struct mm_rss_stat___6_1)) {
		struct mm_struct___6_1 *old = (void *)mm;

		sum = BPF_CORE_READ(old, rss_stat.count[counter].counter);
	} else {
		u64 base = (u64)BPF_CORE_READ(mm, rss_stat[counter].counters);

		sum = BPF_CORE_READ(mm, rss_stat[counter].count);
		for (u32 cpu = 0; cpu_offset_known && cpu < MAX_CPUS && cpu < nr_cpus; cpu++) {
			s32 part = 0;

			bpf_probe_read_kernel(&part, sizeof(part),
					      (void *)(base + cpu_offset[cpu]));
			sum += part;
		}
	}
	return sum > 0 ? sum : 0;
}

static __always_inline u64 rss_now(struct mm_struct *mm)
{
	return pages(mm, RSS_FILE) + pages(mm, RSS_ANON) + pages(mm, RSS_SHMEM);
}

static __always_inline u64 high_water(struct mm_struct *mm)
{
	u64 mark = BPF_CORE_READ(mm, hiwater_rss), now = rss_now(mm);

	return mark > now ? mark : now;
}

__hidden void peak_note(struct process_entry *p, u64 peak)
{
	if (peak > p->event.rec.rss_peak_pages)
		p->event.rec.rss_peak_pages = peak;
}

/*
 * The mark of the last image. Since 6.16 the address space is there at this hook. Before, only the
 * running maximum over all images remains: it is this image's if it has grown since its exec.
 */
__hidden void peak_at_exit(struct task_struct *task, struct process_entry *p)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss);

	if (mm) {
		peak_note(p, high_water(mm));
		return;
	}
	if (p->event.rec.execs && maxrss <= p->maxrss_at_exec)
		p->event.rec.flags |= PROCESS_PEAK_UPPER_BOUND;
	peak_note(p, maxrss);
}

/* The mark of an image that ends by exec. What a process inherits by fork is not its own. */
SEC("?tp_btf/sched_prepare_exec")
int BPF_PROG(memory__prepare_exec, struct task_struct *task, struct linux_binprm *bprm)
{
	struct task_entry *t = task_find((u64)task);
	struct process_entry *p = t ? process_find(t->process) : NULL;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (p && mm && p->event.rec.execs)
		peak_note(p, high_water(mm));
	return 0;
}

__hidden void memory_read(struct mm_struct *mm, struct drain_row *row)
{
	row->mm = (u64)mm;
	row->rss_pages = rss_now(mm);
	row->swap_pages = pages(mm, RSS_SWAP);
	row->vms_pages = BPF_CORE_READ(mm, total_vm);
	row->peak_pages = BPF_CORE_READ(mm, hiwater_rss);
	if (row->rss_pages > row->peak_pages)
		row->peak_pages = row->rss_pages;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/summary.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_SLOTS (MAX_PROGRAMS * 2UL)

void summary_done(struct summary *s)
{
	for (size_t i = 0; i < s->nr_programs; i++)
		free(s->programs[i].exe);
	free(s->programs);
	free(s->program_index);
	holders_done(&s->holders);
	sample_reset(&s->total);
	latencies_done(&s->latencies);
	*s = (struct summary){ 0 };
}

static void sample_raise(const struct sample *smp, enum metric_id id, uint64_t *most)
{
	if (sample_has(smp, id) && smp->value[id] > *most)
		*most = smp->value[id];
}

/* Keeps the parts of the cgroup's memory at the sample with the largest total. */
static void summary_add_cgroup(struct summary *s, const struct sample *smp)
{
	if (!sample_has(smp, M_cgroup_memory) || !sample_has(smp, M_cgroup_anon) ||
	    !sample_has(smp, M_cgroup_file) ||
	    (s->has_cgroup_split && smp->value[M_cgroup_memory] <= s->cgroup_largest_bytes))
		return;
	s->has_cgroup_split = true;
	s->cgroup_largest_bytes = smp->value[M_cgroup_memory];
	s->cgroup_peak_anon_bytes = smp->value[M_cgroup_anon];
	s->cgroup_peak_file_bytes = smp->value[M_cgroup_file];
}

void summary_add_sample(struct summary *s, const struct sample *smp)
{
	const bool is_equal = s->samples && !smp->nr_instances && !s->total.nr_instances &&
			      sample_equals(&s->total, smp);
	uint64_t cores;

	s->samples++;
	s->total.elapsed_ns = smp->elapsed_ns;
	s->wall_ns = smp->elapsed_ns;
	if (is_equal) { /* as of most jobs of a node: no peak changes, but that of cores */
		s->total.value[M_lifetime] = smp->value[M_lifetime];
		if (cores_add(&s->cores, smp, &cores) && cores > s->cores_peak)
			s->cores_peak = cores;
		return;
	}
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (sample_has(smp, (enum metric_id)i))
			sample_set(&s->total, (enum metric_id)i, smp->value[i]);
		else if (source == SOURCE_DELAY || source == SOURCE_BLOCK)
			metric_drop(&s->total.have, (enum metric_id)i); /* no longer known */
	}
	sample_replace_instances(&s->total, smp);
	/* 0 means that no live process was read */
	if (sample_has(smp, M_rss) && smp->value[M_rss] > s->rss_peak_bytes) {
		s->has_rss_peak = true;
		s->rss_peak_bytes = smp->value[M_rss];
		s->rss_peak_elapsed_ns = smp->elapsed_ns;
	}
	if (sample_has(smp, M_rss) && smp->value[M_rss] > s->seen.sample_rss_bytes)
		s->seen.sample_rss_bytes = smp->value[M_rss];
	if (sample_has(smp, M_pss) && (!s->has_pss_peak || smp->value[M_pss] > s->pss_peak_bytes)) {
		s->has_pss_peak = true;
		s->pss_peak_bytes = smp->value[M_pss];
		s->pss_peak_elapsed_ns = smp->elapsed_ns;
	}
	if (sample_has(smp, M_uss) && (!s->has_uss_peak || smp->value[M_uss] > s->uss_peak_bytes)) {
		s->has_uss_peak = true;
		s->uss_peak_bytes = smp->value[M_uss];
	}
	if (sample_has(smp, M_hugetlb)) {
		s->has_hugetlb_peak = true;
		if (smp->value[M_hugetlb] > s->hugetlb_peak_bytes)
			s->hugetlb_peak_bytes = smp->value[M_hugetlb];
	}
	sample_raise(smp, M_gpu_memory, &s->gpu_memory_peak_bytes);
	sample_raise(smp, M_gpus_held, &s->gpus_held_peak);
	sample_raise(smp, M_gpus_used, &s->gpus_used_peak);
	summary_add_cgroup(s, smp);
	if (cores_add(&s->cores, smp, &cores) && cores > s->cores_peak)
		s->cores_peak = cores;
	s->has_cores |= sample_has(smp, M_cores);
	if (sample_has(smp, M_forks)) /* plus the root */
		s->processes_total = smp->value[M_forks] + 1;
}

static uint32_t text_hash(const char *text)
{
	uint32_t h = 2166136261U;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619U;
	return h;
}

struct program *summary_append_program(struct summary *s, const char *exe)
{
	struct program *p;

	if (s->nr_programs == s->room_programs) {
		size_t room = s->room_programs ? s->room_programs * 2 : 16;

		p = memory_reallocarray(s->programs, room, sizeof(*p));
		if (!p)
			return NULL;
		s->programs = p;
		s->room_programs = room;
	}
	p = &s->programs[s->nr_programs];
	*p = (struct program){ .rss_peak_exact = true };
	if (exe) {
		p->exe = memory_strdup(exe);
		if (!p->exe)
			return NULL;
	}
	s->nr_programs++;
	return p;
}

/* Returns the slot of @exe ("" if unknown) in the index, or the free slot for it. */
static uint32_t *slot_find(const struct summary *s, const char *exe)
{
	size_t slot = text_hash(exe) % INDEX_SLOTS;

	for (; s->program_index[slot]; slot = (slot + 1) % INDEX_SLOTS) {
		const struct program *p = &s->programs[s->program_index[slot] - 1];

		if (!strcmp(p->exe ? p->exe : "", exe))
			break;
	}
	return &s->program_index[slot];
}

/* The programs of a summary that was read have no index yet. Returns 0 or -ENOMEM. */
static int program_index_make(struct summary *s)
{
	s->program_index = memory_calloc(INDEX_SLOTS, sizeof(*s->program_index));
	if (!s->program_index)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_programs; i++)
		*slot_find(s, s->programs[i].exe ? s->programs[i].exe : "") = (uint32_t)i + 1;
	return 0;
}

/* Returns the entry of @exe (NULL: unknown), adding it if new; NULL if memory runs out. */
static struct program *program_get(struct summary *s, const char *exe)
{
	struct program *p;
	uint32_t *slot;

	if (!s->program_index && program_index_make(s))
		return NULL;
	slot = slot_find(s, exe ? exe : "");
	/* reserve one entry for programs that are unknown or beyond the limit */
	if (!*slot && exe && s->nr_programs >= MAX_PROGRAMS - 1) {
		exe = NULL;
		slot = slot_find(s, "");
	}
	if (*slot)
		return &s->programs[*slot - 1];
	p = summary_append_program(s, exe);
	if (p)
		*slot = (uint32_t)s->nr_programs;
	return p;
}

void summary_add_process_peak(struct summary *s, const struct process *p)
{
	if (!p->has_rss_peak ||
	    (s->has_process_rss_peak && p->rss_peak_bytes <= s->process_rss_peak_bytes))
		return;
	s->has_process_rss_peak = true;
	s->process_rss_peak_bytes = p->rss_peak_bytes;
	s->process_rss_peak_exact = p->rss_peak_exact;
}

/* Returns true for a file that contains many commands, which differ only in the process's name. */
static bool exe_has_many(const char *exe)
{
	static const char *const names[] = { "busybox", "coreutils", "toybox" };
	const char *slash = strrchr(exe, '/');

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(slash ? slash + 1 : exe, names[i]))
			return true;
	return false;
}

static struct program *program_of(struct summary *s, const struct process *p)
{
	char exe[NAME_MAX + PATH_MAX];

	if (!p->exe || !exe_has_many(p->exe))
		return program_get(s, p->exe);
	snprintf(exe, sizeof(exe), "%s %s", p->exe, p->comm);
	return program_get(s, exe);
}

int summary_add_process(struct summary *s, const struct process *p)
{
	struct program *prog = program_of(s, p);

	summary_add_process_peak(s, p);
	if (!prog)
		return -ENOMEM;
	prog->processes++;
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;
		bool is_known = metric_has(&p->have, id);

		/* the kernel has no delays, or wrong ones, for some processes: no sum then */
		if (metric_get(id)->source == SOURCE_DELAY && prog->processes > 1)
			is_known &= metric_has(&prog->have, id);
		if (!is_known) {
			if (metric_get(id)->source == SOURCE_DELAY)
				metric_drop(&prog->have, id);
			continue;
		}
		prog->value[i] += p->value[i];
		metric_put(&prog->have, id);
	}
	if (p->has_rss_peak && (!prog->has_rss_peak || p->rss_peak_bytes > prog->rss_peak_bytes)) {
		prog->has_rss_peak = true;
		prog->rss_peak_bytes = p->rss_peak_bytes;
		prog->rss_peak_exact = p->rss_peak_exact;
	}
	return 0;
}

void summary_raise_peak(struct summary *s, uint64_t bytes)
{
	if (bytes > s->process_rss_peak_bytes) {
		s->has_process_rss_peak = true;
		s->process_rss_peak_bytes = bytes;
	}
	if (bytes > s->rss_peak_bytes) {
		s->has_rss_peak = true;
		s->rss_peak_bytes = bytes;
	}
}

void summary_add_loss(struct summary *s, const char *name, uint64_t count)
{
	struct loss_count *l;

	if (!count)
		return;
	for (size_t i = 0; i < s->nr_losses; i++) {
		if (!strcmp(s->losses[i].name, name)) {
			s->losses[i].count += count;
			return;
		}
	}
	s->complete = false;
	if (s->nr_losses == MAX_LOSSES)
		return;
	l = &s->losses[s->nr_losses++];
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->count = count;
}

/* clang-format off */
static const struct {
	const char *name, *one, *many;
	const char *effect;
} losses[] = {
	{ "tasks", "task", "tasks", "no room for them: totals lack their usage" },
	{ "processes", "process", "processes", "no room for them: totals lack their usage" },
	{ "accounts", "update of the totals", "updates of the totals", "totals are too low" },
	{ "process_records", "process record", "process records", "their usage is in the totals" },
	{ "exec_events", "exec event", "exec events", "the program of these processes is unknown" },
	{ "free_events", "final reading of a task", "final readings of tasks", "totals lack what they used last" },
	{ "address_spaces", "address space", "address spaces", "the exact peak may be too low" },
	{ "oom_events", "report of an OOM kill", "reports of OOM kills", "OOM kills may be missing" },
	{ "fork_events", "fork", "forks", "totals may lack these processes" },
	{ "process_memory", "reading of a process's memory", "readings of a process's memory", "rss may be too low at samples" },
	{ "net_peers", "peer", "peers", "they are missing in the table of peers" },
	{ "socket_events", "socket event", "socket events", "network figures may be too low" },
	{ "live_sockets", "live socket", "live sockets", "their number at samples is too low" },
	{ "memory_allocations", "memory allocation", "memory allocations", "details such as names may be missing" },
	{ "gpu_uses", "use of a GPU at a reading", "uses of GPUs at readings", "the use of GPUs is too low" },
	{ "block_requests", "block request", "block requests", "block I/O is too low" },
	{ "stream_lines", "line", "lines", "samples or processes are missing, totals are not affected" },
	{ "process_samples", "row of a process sample", "rows of process samples", "totals are not affected" },
};
/* clang-format on */

void loss_format(char text[LOSS_TEXT_BYTES], const struct loss_count *l, const char *count)
{
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		if (strcmp(l->name, losses[i].name) != 0)
			continue;
		snprintf(text, LOSS_TEXT_BYTES, "%s %s (%s)", count,
			 l->count == 1 ? losses[i].one : losses[i].many, losses[i].effect);
		return;
	}
	snprintf(text, LOSS_TEXT_BYTES, "%s %s", count, l->name);
}

void summary_add_oom(struct summary *s, const struct oom_kill *oom)
{
	s->oom_kills++;
	if (!s->oom.is_command)
		s->oom = *oom;
}

static int program_order(const void *a, const void *b)
{
	const struct program *p = a, *q = b;

	if (p->value[M_cpu] != q->value[M_cpu])
		return p->value[M_cpu] < q->value[M_cpu] ? 1 : -1;
	if (p->processes != q->processes)
		return p->processes < q->processes ? 1 : -1;
	return strcmp(p->exe ? p->exe : "", q->exe ? q->exe : "");
}

void summary_finish(struct summary *s)
{
	if (s->nr_programs)
		qsort(s->programs, s->nr_programs, sizeof(*s->programs), program_order);
	free(s->program_index); /* invalid after the sort */
	s->program_index = NULL;
	if (s->has_process_rss_peak && s->process_rss_peak_exact &&
	    s->process_rss_peak_bytes > s->rss_peak_bytes)
		s->rss_peak_bytes = s->process_rss_peak_bytes;
	s->needed = memory_needed_of(s);
	/* the run was too short for a value over a part of it: use the mean */
	if (s->has_cores && s->cores_peak < summary_cores_mean(s))
		s->cores_peak = summary_cores_mean(s);
	/* the mean includes the command's usage before its exec */
	if (s->cores.cpus && s->cores_peak > s->cores.cpus * 1000ULL)
		s->cores_peak = s->cores.cpus * 1000ULL;
}

bool summary_is_from_collector(const struct summary *s)
{
	return s->drains > 0;
}

bool summary_write_is_bound(const struct summary *s)
{
	enum metric_id calls = sample_has(&s->total, M_wchar_files) ? M_wchar_files : M_wchar;
	uint64_t most = s->total.value[calls];

	if (calls == M_wchar_files && sample_has(&s->total, M_wchar_kernel))
		most += s->total.value[M_wchar_kernel]; /* a core dump is a file */
	return sample_has(&s->total, M_write) && sample_has(&s->total, calls) &&
	       s->total.value[M_write] > most;
}

uint64_t summary_cores_mean(const struct summary *s)
{
	/* cpu * 1000 overflows after half a year of CPU time: divide first */
	return s->wall_ns >= 1000 ? s->total.value[M_cpu] / (s->wall_ns / 1000) : 0;
}

uint64_t summary_gpus_mean(const struct summary *s)
{
	return s->wall_ns >= 1000 ? s->total.value[M_gpu] / (s->wall_ns / 1000) : 0;
}

uint64_t summary_self_cpu_ns(const struct summary *s)
{
	return s->collector.cpu_ns + s->recorder.cpu_ns;
}

uint64_t summary_self_rss_bytes(const struct summary *s)
{
	if (!s->collector.rss_bytes || !s->recorder.rss_bytes)
		return 0;
	return s->collector.rss_bytes + s->recorder.rss_bytes;
}

uint64_t summary_drain_ns_mean(const struct summary *s)
{
	return s->drains ? s->drain_ns_total / s->drains : 0;
}

void summary_set_drain_ns_mean(struct summary *s, uint64_t mean_ns)
{
	if (__builtin_mul_overflow(mean_ns, s->drains, &s->drain_ns_total))
		s->drain_ns_total = UINT64_MAX;
}

static void holders_count_other(struct holders *all, struct holder *h)
{
	all->others++;
	all->others_bytes += h->rss_bytes;
	free(h->exe);
}

void holders_add(struct holders *all, const struct holder *h)
{
	struct holder one = *h;
	size_t at = all->nr;

	one.exe = h->exe ? memory_strdup(h->exe) : NULL;
	while (at && all->largest[at - 1].rss_bytes < one.rss_bytes)
		at--;
	if (at == HOLDERS_KEPT) {
		holders_count_other(all, &one);
		return;
	}
	if (all->nr == HOLDERS_KEPT)
		holders_count_other(all, &all->largest[--all->nr]);
	memmove(&all->largest[at + 1], &all->largest[at], (all->nr - at) * sizeof(one));
	all->largest[at] = one;
	all->nr++;
}

void holders_done(struct holders *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->largest[i].exe);
	*all = (struct holders){ 0 };
}

static const char *const directions[LATENCY_DIRECTIONS] = { "read", "write", "discard", "flush" };

const char *latency_direction_name(unsigned direction)
{
	return directions[direction];
}

int latency_direction_find(const char *name, unsigned *direction)
{
	for (unsigned i = 0; i < LATENCY_DIRECTIONS; i++) {
		if (strcmp(directions[i], name) != 0)
			continue;
		*direction = i;
		return 0;
	}
	return -ENOENT;
}

int latency_bucket_find(uint64_t upper_ns, unsigned *bucket)
{
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		if (latency_upper_ns(i) != upper_ns)
			continue;
		*bucket = i;
		return 0;
	}
	return -ENOENT;
}

struct block_latency *latencies_get(struct block_latencies *l, const char *device,
				    unsigned direction)
{
	struct block_latency *all;

	for (size_t i = 0; i < l->nr; i++)
		if (l->all[i].direction == direction && !strcmp(l->all[i].device, device))
			return &l->all[i];
	if (l->nr == MAX_LATENCIES)
		return NULL;
	all = memory_reallocarray(l->all, l->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	l->all = all;
	all = &all[l->nr++];
	*all = (struct block_latency){ .direction = direction };
	snprintf(all->device, sizeof(all->device), "%s", device);
	return all;
}

uint64_t latency_operations(const struct block_latency *l)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		sum += l->count[i];
	return sum;
}

uint64_t latency_percentile_ns(const struct block_latency *l, unsigned percent)
{
	const uint64_t wanted = (latency_operations(l) * percent + 99) / 100;
	uint64_t sum = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		sum += l->count[i];
		if (sum && sum >= wanted)
			return latency_upper_ns(i);
	}
	return 0;
}

void latencies_done(struct block_latencies *l)
{
	free(l->all);
	*l = (struct block_latencies){ 0 };
}

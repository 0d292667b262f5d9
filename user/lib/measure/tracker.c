// SPDX-License-Identifier: BSD-2-Clause
#include "measure/tracker.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "bpfmon.skel.h"
#include "measure/capability.h"
#include "measure/kept.h"
#include "measure/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIRTH_ATTEMPTS 100

/*
 * Births that both hooks missed: since Linux 7.0 programs may be skipped, and the kernel only
 * counts the skips for the whole machine: not which births they were, nor whether the other hook
 * saw them. So both hooks count the births that at least one of them saw, and /proc/stat has the
 * kernel's own count. The growth of the difference, less the tasks that were adopted late, is the
 * loss `fork_events`.
 */

/* Reads the number of all tasks since boot, threads included. */
static int forks_read(uint64_t *forks)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/stat", "re");
	__cleanup(freep) char *line = NULL;
	size_t room = 0;
	unsigned long long n;

	while (f && memory_getline(&line, &room, f) > 0) {
		if (sscanf(line, "processes %llu", &n) != 1)
			continue;
		*forks = n;
		return 0;
	}
	return -ENODATA;
}

static int births_read(const struct bpf_map *map, uint64_t *per_cpu, size_t cpus,
		       uint64_t *reported)
{
	const uint32_t zero = 0;
	int err =
		bpf_map__lookup_elem(map, &zero, sizeof(zero), per_cpu, cpus * sizeof(*per_cpu), 0);

	*reported = 0;
	for (size_t i = 0; !err && i < cpus; i++)
		*reported += per_cpu[i];
	return err;
}

/*
 * Sets @unreported to the kernel's forks less the births that a hook saw, on the whole machine.
 * Returns -EAGAIN if forks are too frequent to read both counts at one moment.
 */
static int births_unreported(const struct bpf_map *map, uint64_t *unreported)
{
	int cpus = libbpf_num_possible_cpus();
	__cleanup(freep) uint64_t *per_cpu = cpus > 0 ? memory_calloc((size_t)cpus, 8) : NULL;
	uint64_t forks, reported, again;

	if (!per_cpu)
		return -ENOMEM;
	for (int i = 0; i < BIRTH_ATTEMPTS; i++) {
		int err = births_read(map, per_cpu, (size_t)cpus, &reported);

		if (!err)
			err = forks_read(&forks);
		if (!err)
			err = births_read(map, per_cpu, (size_t)cpus, &again);
		if (err)
			return err;
		if (reported != again)
			continue;
		*unreported = forks - reported;
		return 0;
	}
	return -EAGAIN;
}

static int tracker_open_proc(struct tracker *t, const struct tracker_options *o)
{
	t->proc = proc_source_new(o->proc_launcher, !o->no_args, o->inject_misses);
	if (!t->proc)
		return -ENOMEM;
	proc_source_metrics(&o->wanted, &t->usable, t->unusable);
	optionals_refuse(&t->optional, o->exact_peak);
	return 0;
}

int tracker_open(struct tracker *t, const struct tracker_options *o, char *why, size_t why_size)
{
	int err;

	memset(t, 0, sizeof(*t));
	if (o->proc_launcher) {
		err = accounts_init(&t->accounts, MAX_ACCOUNTS);
		return err ? err : tracker_open_proc(t, o);
	}
	err = accounts_init(&t->accounts, o->whole_node ? NODE_ACCOUNTS : MAX_ACCOUNTS);
	if (!err)
		err = capability_core(why, why_size);
	if (!err)
		err = programs_load(&t->skel, o, &t->optional, why, why_size);
	if (err)
		return err;
	t->adopts_always = o->inject_misses > 0;
	if (o->kept) {
		optionals_attach_iterators(&t->optional, t->skel);
		err = kept_finish(o->kept, t);
	} else {
		optionals_attach(&t->optional, t->skel, o->refusals.attaching, o->wire_cgroup);
		err = programs_attach(t, why, why_size);
	}
	if (!err)
		err = programs_attach_iterators(t, why, why_size);
	if (!err)
		err = tracker_adopt(t); /* finds out which fields exist */
	t->knows_births = !err && !births_unreported(t->skel->maps.births, &t->births_unreported);
	if (err) {
		tracker_close(t);
		return err;
	}
	capability_metrics(&o->wanted, t->skel->bss->task_fields, &t->optional, &t->usable,
			   t->unusable);
	return 0;
}

/*
 * Returns the births missed by both hooks according to the kernel's count, or a bound if that is
 * unknown.
 */
static uint64_t births_lost(const struct tracker *t)
{
	uint64_t unreported;

	if (!t->births_missed || !t->knows_births ||
	    births_unreported(t->skel->maps.births, &unreported))
		return t->births_missed;
	unreported = unreported > t->births_unreported ? unreported - t->births_unreported : 0;
	return unreported < t->births_missed ? unreported : t->births_missed;
}

void tracker_settle_births(struct tracker *t)
{
	if (t->proc)
		return;
	t->births_missed = births_lost(t);
}

void tracker_watch_memory(struct tracker *t, uint64_t bytes)
{
	if (t->proc) /* samples are checked instead */
		return;
	t->skel->bss->watched_pages = bytes / (uint64_t)sysconf(_SC_PAGESIZE);
}

void tracker_freeze_peak(struct tracker *t)
{
	if (t->skel)
		t->skel->bss->peak_is_frozen = true;
}

void tracker_close(struct tracker *t)
{
	bpf_link__destroy(t->adopt_link);
	walker_close(&t->drain);
	walker_close(&t->retire);
	ring_buffer__free(t->ring);
	proc_source_free(t->proc);
	optionals_detach(&t->optional);
	while (t->nr_kept_links)
		close(t->kept_links[--t->nr_kept_links]);
	free(t->kept_links);
	bpfmon__destroy(t->skel);
	accounts_done(&t->accounts);
	memset(t, 0, sizeof(*t));
}

void tracker_read_accounts(struct tracker *t)
{
	if (!t->proc) {
		accounts_read(&t->accounts, t->skel->maps.accounts);
		return;
	}
	proc_source_accounts(t->proc, &t->accounts);
}

uint64_t tracker_unsplit(const struct tracker *t)
{
	return t->proc ? proc_source_unsplit(t->proc) : 0;
}

void tracker_totals(struct tracker *t, struct account *totals)
{
	*totals = t->removed;
	tracker_read_accounts(t);
	for (size_t i = 0; i < t->accounts.nr; i++)
		account_add(totals, &t->accounts.totals[i]);
	account_make_consistent(totals);
}

uint64_t tracker_repaired(const struct tracker *t)
{
	const struct tracking *now = tracker_tracking(t);

	return now->adopted_late + now->ends_unseen + now->images_unseen + now->frees_unseen;
}

int tracker_events_fd(const struct tracker *t)
{
	return t->proc ? -1 : ring_buffer__epoll_fd(t->ring);
}

void tracker_note_reaped(struct tracker *t, const struct reaped *r)
{
	if (t->proc)
		proc_source_note_reaped(t->proc, r);
}

int tracker_listen(struct tracker *t, event_fn fn, void *context)
{
	if (t->proc) {
		proc_source_listen(t->proc, fn, context);
		return 0;
	}
	t->ring = ring_buffer__new(bpf_map__fd(t->skel->maps.events), fn, context, NULL);
	return t->ring ? 0 : -errno;
}

void tracker_consume(struct tracker *t)
{
	if (t->ring)
		ring_buffer__consume(t->ring);
}

int tracker_each_process(struct tracker *t, void (*fn)(void *, const struct process_record *),
			 void *context)
{
	struct process_entry entry;
	__u64 key, *previous = NULL;
	const struct bpf_map *map;

	if (t->proc) {
		proc_source_each(t->proc, fn, context);
		return 0;
	}
	map = t->skel->maps.processes;
	while (!bpf_map__get_next_key(map, previous, &key, sizeof(key))) {
		if (!bpf_map__lookup_elem(map, &key, sizeof(key), &entry, sizeof(entry), 0))
			fn(context, &entry.event.rec);
		previous = &key;
	}
	return 0;
}

int tracker_peak(const struct tracker *t, struct tree_peak *peak)
{
	const __u32 zero = 0;

	if (!(t->optional.there & OPTIONAL_BIT(OPTIONAL_EXACT_PEAK)))
		return -ENODATA;
	return bpf_map__lookup_elem(t->skel->maps.peak, &zero, sizeof(zero), peak, sizeof(*peak),
				    BPF_F_LOCK);
}

static void wire_add_up(struct wire_counters *sum, const struct wire_counters *by_cpu, int cpus)
{
	*sum = (struct wire_counters){ 0 };
	for (int i = 0; i < cpus; i++) {
#define WIRE_METRIC(base, ...) sum->base += by_cpu[i].base;
#include "bpfmon/metrics.def"
	}
}

int tracker_wire(const struct tracker *t, struct wire_counters *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct wire_counters *by_cpu;
	const __u32 zero = 0;
	int err;

	if (!(t->optional.there &
	      (OPTIONAL_BIT(OPTIONAL_WIRE_RECEIVES) | OPTIONAL_BIT(OPTIONAL_WIRE_SENDS))) ||
	    cpus < 1)
		return -ENODATA;
	by_cpu = memory_calloc((size_t)cpus, sizeof(*by_cpu));
	if (!by_cpu)
		return -ENOMEM;
	err = bpf_map__lookup_elem(t->skel->maps.wire, &zero, sizeof(zero), by_cpu,
				   (size_t)cpus * sizeof(*by_cpu), 0);
	if (!err)
		wire_add_up(sum, by_cpu, cpus);
	free(by_cpu);
	return err;
}

void tracker_each_mm(const struct tracker *t,
		     void (*fn)(void *, uint64_t mm, const struct mm_entry *), void *context)
{
	const struct bpf_map *map = t->skel->maps.mms;
	struct mm_entry entry;
	__u64 key, *previous = NULL;

	while (!bpf_map__get_next_key(map, previous, &key, sizeof(key))) {
		if (!bpf_map__lookup_elem(map, &key, sizeof(key), &entry, sizeof(entry), 0))
			fn(context, key, &entry);
		previous = &key;
	}
}

uint64_t tracker_map_bytes(const struct tracker *t)
{
	struct bpf_map *map;
	uint64_t sum = 0;

	if (t->proc)
		return 0;
	bpf_object__for_each_map(map, t->skel->obj) {
		char path[64], line[128];
		__cleanup(fclosep) FILE *f = NULL;
		unsigned long long bytes;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
		f = memory_fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "memlock: %llu", &bytes) == 1)
				sum += bytes;
	}
	return sum;
}

unsigned tracker_max_tasks(const struct tracker *t)
{
	return t->proc ? 0 : bpf_map__max_entries(t->skel->maps.tasks);
}

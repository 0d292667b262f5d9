// SPDX-License-Identifier: BSD-2-Clause
/* Drains: repair missed events, then commit each live task. */
#include "measure/tracker.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpfmon.skel.h"
#include "measure/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#define WHOLE_DRAIN_PASSES 16
#define NODE_DRAIN_PASSES 3 /* a node goes on after the drain */

uint64_t tracker_socket_misses(const struct tracker *t)
{
	const struct bpfmon *s = t->skel;
	uint64_t missed = 0;

	if (t->optional.there & OPTIONAL_BIT(OPTIONAL_SENDS))
		missed += program_misses(s->progs.sockets__send);
	if (t->optional.there & OPTIONAL_BIT(OPTIONAL_RECEIVES))
		missed += program_misses(s->progs.sockets__receive);
	return missed;
}

/* From 7.0 on the kernel may skip a program at an event, and counts the skips of each program. */
static void tracker_repair(struct tracker *t, uint64_t now_ns)
{
	const struct bpfmon *s = t->skel;
	uint64_t born = program_misses(s->progs.follow__newtask),
		 forked = program_misses(s->progs.follow__fork);
	uint64_t all = born + forked + program_misses(s->progs.follow__exec) +
		       program_misses(s->progs.follow__exit) +
		       program_misses(s->progs.follow__free);

	t->repaired_ns = now_ns;
	t->newtask_missed = born;
	t->births_missed = born < forked ? born : forked;
	if (all == t->misses && !t->adopts_always)
		return;
	t->misses = all;
	t->skel->bss->misses_seen = true;
	tracker_adopt(t);
}

uint64_t tracker_unrepaired(const struct tracker *t)
{
	const struct tracking *now = tracker_tracking(t);
	uint64_t lost = t->births_missed + now->births_ignored;

	return lost > now->adopted_late ? lost - now->adopted_late : 0;
}

/*
 * Missed births must be repaired before the sample. Reading the counts of the other hooks costs as
 * much as draining some tasks, and tasks that they miss are known: once a second is enough.
 */
static bool tracker_repair_is_due(const struct tracker *t, uint64_t now_ns)
{
	return t->adopts_always || t->skel->bss->drain_all ||
	       now_ns - t->repaired_ns >= NSEC_PER_SEC ||
	       program_misses(t->skel->progs.follow__newtask) != t->newtask_missed;
}

/*
 * After moves that the hook did not see completely: adopts tasks in the cgroup; the drain drops
 * those outside.
 */
static void tracker_repair_moves(struct tracker *t)
{
	uint64_t unseen = tracker_tracking(t)->moves_unseen;
	uint64_t missing = program_misses(t->skel->progs.cgroup__attach_task);

	if (t->optional.there & OPTIONAL_BIT(OPTIONAL_MOVES) && unseen == t->moves_unseen &&
	    missing == t->moves_missed)
		return;
	t->moves_unseen = unseen;
	t->moves_missed = missing;
	t->skel->bss->check_members = true;
	tracker_seed_again(t);
}

/* Adds the duration of a drain, which may have several passes. */
static void tracker_note_drain(struct tracker *t, uint64_t since_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	t->drain_ns_total += now_ns - since_ns;
	if (now_ns - t->began_ns > t->drain_ns_max)
		t->drain_ns_max = now_ns - t->began_ns;
}

struct taker {
	drain_fn row;
	void *context;
};

static void row_take(void *context, const void *item)
{
	const struct taker *t = context;

	t->row(t->context, item);
}

/* Continues the pass with tasks not met yet. */
static int tracker_go_on(struct tracker *t, drain_fn row, void *context)
{
	struct taker taker = { row, context };

	return walker_run(&t->drain, row ? row_take : NULL, &taker);
}

static int tracker_pass(struct tracker *t, drain_fn row, void *context)
{
	const uint64_t number = t->skel->bss->drain_pass.number + 1;
	__u64 *tasks = &t->skel->bss->tracking.tasks;
	uint64_t met = tasks_met(__atomic_load_n(tasks, __ATOMIC_SEQ_CST), number);

	/* in this order: until then, hooks count for the pass before */
	__atomic_sub_fetch(tasks, met << tasks_met_shift(number), __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->skel->bss->drain_pass.number, number, __ATOMIC_SEQ_CST);
	return tracker_go_on(t, row, context);
}

static int tracker_drain_proc(struct tracker *t, bool whole, drain_fn row, void *context)
{
	int err;

	t->began_ns = clock_ns(CLOCK_MONOTONIC);
	err = proc_source_drain(t->proc, whole, row, context);
	t->drains++;
	tracker_note_drain(t, t->began_ns);
	return err;
}

int tracker_drain(struct tracker *t, drain_fn row, void *context)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (t->proc)
		return tracker_drain_proc(t, false, row, context);
	if (tracker_repair_is_due(t, start))
		tracker_repair(t, start);
	t->skel->bss->check_members = false;
	if (t->skel->rodata->by_cgroup && t->skel->bss->seeded_at_ns)
		tracker_repair_moves(t);
	tracker_seed_sockets(t);
	t->skel->bss->drain_epoch++;
	t->began_ns = clock_ns(CLOCK_MONOTONIC);
	err = tracker_pass(t, row, context);
	t->drains++;
	tracker_note_drain(t, start);
	return err;
}

bool tracker_needs_looks(const struct tracker *t)
{
	return t->proc;
}

uint64_t tracker_look(struct tracker *t)
{
	return proc_source_look(t->proc);
}

int tracker_births_fd(const struct tracker *t)
{
	return proc_source_births_fd(t->proc);
}

uint64_t tracker_births_lost(const struct tracker *t)
{
	return t->proc ? proc_source_births_lost(t->proc) : 0;
}

const char *tracker_births_missing(const struct tracker *t)
{
	return proc_source_births_missing(t->proc);
}

int tracker_may_drain(const struct tracker *t)
{
	__cleanup(closep) int fd = -1;

	if (t->proc)
		return 0;
	fd = bpf_iter_create(bpf_link__fd(t->drain.link));
	return fd < 0 ? -errno : 0;
}

int tracker_drain_again(struct tracker *t, drain_fn row, void *context)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (t->proc) /* a scan of /proc needs no second pass */
		return 0;
	err = tracker_pass(t, row, context);
	tracker_note_drain(t, since_ns);
	return err;
}

bool tracker_visited_all(const struct tracker *t)
{
	uint64_t tasks;

	if (t->proc)
		return true;
	tasks = *(const volatile __u64 *)&t->skel->bss->tracking.tasks;
	return tasks_met(tasks, t->skel->bss->drain_pass.number) >= TASKS_ALL(tasks);
}

bool tracker_reads_memory(const struct tracker *t)
{
	return t->proc || t->skel->rodata->want_memory;
}

int tracker_drain_whole(struct tracker *t, drain_fn row, void *context)
{
	bool whole_node;
	int most, err;

	if (t->proc)
		return tracker_drain_proc(t, true, row, context);
	whole_node = t->skel->rodata->whole_node;
	most = whole_node ? NODE_DRAIN_PASSES : WHOLE_DRAIN_PASSES;
	t->skel->bss->drain_all = true;
	err = tracker_drain(t, row, context);
	for (int i = 1; !err && i < most && !tracker_visited_all(t); i++)
		err = tracker_go_on(t, row, context);
	if (whole_node)
		t->skel->bss->drain_all = false;
	return err;
}

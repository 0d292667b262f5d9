// SPDX-License-Identifier: BSD-2-Clause
/* Drains of the /proc source: scans all processes of a tree, and schedules scans. */
#include "measure/proc_source.h"

#include "base/clock.h"
#include "measure/proc_state.h"
#include "measure/task_rows.h"

#include <errno.h>

#define FULL_NS (100 * NSEC_PER_MSEC) /* longest time between scans of that kind */
#define WHOLE_NS NSEC_PER_SEC
#define REPORT_WAIT_NS (200 * NSEC_PER_MSEC) /* the launcher soon reports how a child ended */
#define LOOK_FIRST_NS NSEC_PER_MSEC
#define LOOK_SETTLED_NS (8 * NSEC_PER_MSEC)
#define LOOK_GROWTH 4 /* each pause is longer than the previous by 1/4 */
#define LOOK_LAST_NS NSEC_PER_SEC
#define LOOK_ATTACHED_NS (100 * NSEC_PER_MSEC)
#define LOOK_SHARE 50 /* pause per CPU time of a scan */

static void member_end(void *context, struct proc_member *m)
{
	struct proc_source *p = context;

	if (!m->end_is_reported)
		proc_state_report_end(p, m);
	proc_member_free(m, &p->budget);
}

/*
 * A zombie of an attachment has ended, whoever reaps it. Those of a command are reaped by the
 * launcher.
 */
static bool zombie_has_ended(const struct proc_source *p, const struct proc_member *m)
{
	return !p->command && !m->end_is_reported && m->stat.state == 'Z' && m->stat.threads <= 1;
}

static void child_note_end(struct proc_source *p, const struct proc_member *m)
{
	struct proc_member *parent = proc_members_find(&p->members, m->stat.parent);
	const struct proc_used used = proc_member_both(m);

	if (parent)
		proc_used_add(&parent->children, &used);
}

/* A command without spans needs only the total. */
static bool needs_member_totals(const struct proc_source *p)
{
	return !p->command || p->has_moved;
}

/* Returns true if the launcher has reaped it but not reported how it ended. */
static bool member_is_awaited(const struct proc_source *p, struct proc_member *m)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!p->command || m->is_reaped || m->stat.parent != p->launcher)
		return false;
	if (!m->gone_ns)
		m->gone_ns = now_ns;
	return now_ns - m->gone_ns < REPORT_WAIT_NS;
}

static void members_settle(struct proc_source *p)
{
	const struct proc_members *all = &p->members;

	for (size_t i = 0; i < all->nr; i++)
		if (all->all[i]->look != p->look && member_is_awaited(p, all->all[i]))
			all->all[i]->look = p->look;
	for (size_t i = 0; i < all->nr; i++) /* first: its parent may have ended, too */
		if (all->all[i]->look != p->look)
			child_note_end(p, all->all[i]);
	if (needs_member_totals(p))
		proc_accounts_settle(&p->accounts, all, p->look);
	for (size_t i = 0; i < all->nr; i++)
		if (zombie_has_ended(p, all->all[i]))
			proc_state_report_end(p, all->all[i]);
	proc_members_sweep(&p->members, p->look, member_end, p);
}

/* Later usage may be in no total. */
static void clock_start(struct proc_source *p)
{
	const struct proc_used used = proc_state_used(p);

	proc_clock_open(&p->clock, &p->members, used.user_ns + used.system_ns, &p->budget);
}

static enum proc_look look_kind(struct proc_source *p, bool whole)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!whole && now_ns - p->full_ns < FULL_NS)
		return LOOK_QUICK;
	p->full_ns = now_ns;
	if (!whole && now_ns - p->whole_ns < WHOLE_NS)
		return LOOK_FULL;
	p->whole_ns = now_ns;
	return LOOK_WHOLE;
}

/* In order of birth: usage only moves to an earlier process. */
static void pending_look(struct proc_source *p, proc_row_fn row, void *context)
{
	const struct born *b;

	for (size_t i = 0; i < p->births.nr_pending; i++) {
		b = born_find(&p->births.live, p->births.pending[i]);
		if (b && !b->is_seen)
			proc_state_look_at_born(p, b, row, context);
	}
	p->births.nr_pending = 0;
}

/* Tracks the sum of memory: the peak may lie between samples. */
static void memory_note(struct proc_source *p)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < p->members.nr; i++) {
		const struct drain_row *row = &p->members.all[i]->row;

		if (row->flags & ROW_ALIVE)
			pages += row_resident_pages(row);
	}
	if (pages <= p->peak_pages)
		return;
	p->peak_pages = pages;
	p->peak_ns = clock_ns(CLOCK_MONOTONIC);
}

int proc_source_drain(struct proc_source *p, bool whole, proc_row_fn row, void *context)
{
	size_t known;
	int err = 0;

	if (whole)
		proc_births_settle(p);
	else
		proc_births_receive(p);
	known = p->members.nr;
	p->drained_ns = clock_ns(CLOCK_MONOTONIC);
	p->births.has_exec = false;
	proc_births_expire(p, REPORT_WAIT_NS);
	if (needs_member_totals(p))
		proc_accounts_begin(&p->members);
	p->look++;
	p->kind = look_kind(p, whole);
	p->nr_stack = 0;
	/*
	 * before the scan: what is reaped later may be scanned alive, and must not be counted twice
	 */
	p->reaped = p->reaped_by_now;
	p->seen = p->seen_by_now;
	if (p->command) /* orphans of the tree are children of the launcher */
		err = proc_files_children(&p->of_launcher, &p->budget.nr_open, p->budget.most,
					  proc_state_push, p);
	for (size_t i = 0; i < known; i++)
		proc_state_look_at_member(p, p->members.all[i], row, context);
	while (p->nr_stack)
		proc_state_look_at(p, p->stack[--p->nr_stack], row, context);
	pending_look(p, row, context);
	members_settle(p);
	memory_note(p);
	if (p->command && p->misses_children && !p->clock.is_tried)
		clock_start(p);
	return err ? err : p->lacks_memory ? -ENOMEM : 0;
}

/*
 * Where births are reported: scans the newborn, and all processes at growing intervals, because a
 * process may soon hold much memory.
 */
static uint64_t look_after_births(struct proc_source *p, uint64_t last_ns)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const bool has_exec = p->births.has_exec;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns < p->due_ns)
		return p->due_ns - now_ns;
	if (has_exec || now_ns - p->drained_ns >= p->pause_ns) {
		proc_source_drain(p, false, NULL, NULL);
		p->pause_ns += p->pause_ns / LOOK_GROWTH;
	} else {
		pending_look(p, NULL, NULL);
	}
	/* births seen by a sample count, too; and a pause of 0 would never grow */
	if (has_exec || p->nr_born > p->nr_looked_born || p->pause_ns < LOOK_SETTLED_NS)
		p->pause_ns = LOOK_SETTLED_NS;
	p->nr_looked_born = p->nr_born;
	if (p->pause_ns > last_ns)
		p->pause_ns = last_ns;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	p->due_ns = now_ns + LOOK_SHARE * cpu_ns;
	return p->pause_ns;
}

uint64_t proc_source_look(struct proc_source *p)
{
	/* usage of an attached process after the last scan may be lost */
	const uint64_t last_ns = p->command ? LOOK_LAST_NS : LOOK_ATTACHED_NS;
	const uint64_t born = p->nr_born;
	uint64_t cpu_ns;

	proc_births_receive(p);
	if (p->births.from.fd >= 0)
		return look_after_births(p, last_ns);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	proc_source_drain(p, false, NULL, NULL);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	p->pause_ns = p->nr_born > born ? LOOK_FIRST_NS : p->pause_ns + p->pause_ns / LOOK_GROWTH;
	if (p->pause_ns < LOOK_FIRST_NS)
		p->pause_ns = LOOK_FIRST_NS;
	if (p->pause_ns < LOOK_SHARE * cpu_ns)
		p->pause_ns = LOOK_SHARE * cpu_ns;
	if (p->pause_ns > last_ns)
		p->pause_ns = last_ns;
	return p->pause_ns;
}

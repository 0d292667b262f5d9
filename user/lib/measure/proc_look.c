// SPDX-License-Identifier: BSD-2-Clause
/* One scan of a process in /proc: whether it is new, what it has used, whether it is gone. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/proc_source.h"
#include "measure/proc_state.h"
#include "measure/task_rows.h"
#include "measure/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void proc_state_push(void *context, pid_t pid)
{
	struct proc_source *p = context;
	size_t room = p->room_stack ? p->room_stack * 2 : 64;
	pid_t *stack = p->stack;

	if (p->nr_stack == p->room_stack) {
		stack = memory_reallocarray(stack, room, sizeof(*stack));
		p->lacks_memory |= !stack;
		if (!stack)
			return;
		p->stack = stack;
		p->room_stack = room;
	}
	stack[p->nr_stack++] = pid;
}

/* A scan has found the process: takes what was reported of its birth. */
static void member_note_seen(struct proc_source *p, struct proc_member *m)
{
	struct born *b;

	if (p->births.from.fd < 0)
		return;
	b = born_find(&p->births.live, m->files.pid);
	if (!b) { /* its birth was not reported yet, or never will be */
		b = born_add(&p->births.live, m->files.pid);
		if (!b)
			return;
		b->start_boot_ns = m->stat.start_ns;
	}
	b->uid = m->rec.uid; /* of a process without a known parent no event tells it */
	if (!m->rec.image && !b->exec_ns)
		m->rec.image = b->image;
	b->is_seen = true;
}

/* Keeps the record until the kernel reports the end. Returns false if it will not. */
static bool member_await_end(struct proc_source *p, struct proc_member *m)
{
	struct born *b = born_find(&p->births.live, m->files.pid);

	if (!b || !b->is_seen || b->late || m->stat.start_ns > b->start_boot_ns || p->is_seeding ||
	    m->is_reaped)
		return false;
	b->late = memory_malloc(sizeof(*b->late));
	if (!b->late)
		return false;
	*b->late = m->rec;
	b->late_ns = clock_ns(CLOCK_MONOTONIC);
	p->births.nr_late++;
	return true;
}

/* Reports an image that the process has executed or inherited. */
static void image_report(struct proc_source *p, struct proc_member *m)
{
	struct exec_event e;

	m->rec.image = ++p->serials;
	if (!p->event || image_of_running(m->files.pid, p->wants_args, &e))
		return;
	e.image = m->rec.image;
	p->event(p->context, &e, sizeof(e));
}

void proc_state_seed(struct proc_source *p, struct proc_member *m)
{
	proc_member_set_base(m);
	proc_accounts_forget(&p->accounts, m);
	m->rec.flags |= PROCESS_SEEDED;
	m->rec.joined_boot_ns = clock_ns(CLOCK_BOOTTIME);
}

/* It joins the account of its parent. */
static void member_begin(struct proc_source *p, struct proc_member *m)
{
	const struct proc_member *parent = proc_members_find(&p->members, m->stat.parent);
	const pid_t pid = m->files.pid;
	struct process_record *r = &m->rec;
	struct proc_account *a = NULL;

	r->signal = r->serial = ++p->serials;
	r->start_boot_ns = m->stat.start_ns;
	r->account = parent ? parent->rec.account : p->accounts.all[0].key;
	r->pid = r->tgid = (uint32_t)pid;
	r->flags = PROCESS_PEAK_UPPER_BOUND | (pid == p->command ? PROCESS_ROOT : 0);
	p->nr_born++;
	a = proc_accounts_find(&p->accounts, &r->account);
	if (a && (pid == p->command || p->is_seeding))
		a->total.roots++;
	else if (a)
		a->total.forks++;
}

/* Takes the values read. A new name means a new program. */
static void member_take(struct proc_source *p, struct proc_member *m)
{
	bool is_new = strcmp(m->rec.comm, m->stat.comm) != 0;

	if (m->files.pid == p->command && p->awaits_exec && *m->rec.comm && is_new) {
		m->rec.rss_peak_pages = m->rec.rss_bound_pages = 0;
		p->awaits_exec = false;
	}
	p->misses_io |= m->io_is_refused;
	p->misses_children |= m->status.ignores_children;
	if (is_new && m->stat.state != 'Z')
		image_report(p, m);
	proc_member_fill(m);
}

/*
 * Scans a process before its children: usage that moves to it in between counts at the next scan,
 * and not twice.
 */
void proc_state_look_at_member(struct proc_source *p, struct proc_member *m, proc_row_fn row,
			       void *context)
{
	int err;

	m->read_ns = clock_ns(CLOCK_MONOTONIC);
	err = proc_member_look(m, p->kind, &p->budget);
	if (err == -ESRCH)
		return;
	m->look = p->look;
	if (!err && m->is_changed) {
		member_take(p, m);
		proc_member_children(m, p->kind, &p->budget, proc_state_push, p);
	}
	if (row && !m->end_is_reported)
		row(context, &m->row);
}

/* An ended process's PID may be reused, which not every scan checks. */
static bool is_of_bpfmon(const struct proc_source *p, pid_t pid)
{
	return pid == p->launcher || (own_children_had(&p->own, pid) &&
				      (p->kind == LOOK_QUICK || own_children_has(&p->own, pid)));
}

void proc_state_look_at(struct proc_source *p, pid_t pid, proc_row_fn row, void *context)
{
	struct proc_member *m = proc_members_find(&p->members, pid);

	if ((m && m->look == p->look) || is_of_bpfmon(p, pid))
		return;
	m = proc_member_new(pid);
	p->lacks_memory |= !m;
	if (m)
		m->read_ns = clock_ns(CLOCK_MONOTONIC);
	/* a process that ended before its files were read has no record */
	if (!m || proc_member_look(m, LOOK_WHOLE, &p->budget) || !m->status.is_read) {
		proc_member_free(m, &p->budget);
		return;
	}
	if (!proc_members_add(&p->members, m)) {
		proc_member_free(m, &p->budget);
		p->lacks_memory = true;
		return;
	}
	member_begin(p, m);
	m->look = p->look;
	member_take(p, m);
	if (m->stat.start_ns < p->seeded_boot_ns)
		proc_state_seed(p, m);
	member_note_seen(p, m);
	if (row)
		row(context, &m->row);
	proc_member_children(m, LOOK_FULL, &p->budget, proc_state_push, p);
}

void proc_state_report(struct proc_source *p, const struct process_record *r)
{
	struct process_event e = { .kind = EVENT_PROCESS, .rec = *r };
	struct proc_account *a = proc_accounts_find(&p->accounts, &r->account);

	if (a)
		a->total.exits++;
	if (p->event && !p->is_seeding)
		p->event(p->context, &e, sizeof(e));
}

void proc_state_report_end(struct proc_source *p, struct proc_member *m)
{
	m->end_is_reported = true;
	proc_state_complete(p, m);
	proc_member_end(m);
	if (!member_await_end(p, m))
		proc_state_report(p, &m->rec);
}

/* The PID may have been reused. */
void proc_state_look_at_born(struct proc_source *p, const struct born *b, proc_row_fn row,
			     void *context)
{
	struct proc_stat s;

	if (!proc_stat_read(b->pid, &s) && s.start_ns <= b->start_boot_ns)
		proc_state_look_at(p, b->pid, row, context);
	p->nr_stack = 0; /* events report its children, too */
}

void proc_state_take_born(struct proc_member *m, const struct born *b)
{
	m->rec.execs = b->execs;
	if (b->threads_total > m->rec.threads_total)
		m->rec.threads_total = b->threads_total;
	if (born_has_later_image(b, m)) {
		m->rec.image = 0;
		memset(m->rec.comm, 0, sizeof(m->rec.comm));
	}
}

void proc_state_complete(const struct proc_source *p, struct proc_member *m)
{
	const struct born *b = born_find(&p->births.live, m->files.pid);

	if (b && m->stat.start_ns <= b->start_boot_ns)
		proc_state_take_born(m, b);
}

struct proc_used proc_state_used(const struct proc_source *p)
{
	const struct reaped *r = &p->reaped;
	struct proc_used used = { r->user_ns, r->system_ns, r->minflt, r->majflt,
				  r->nvcsw,   r->nivcsw,    r->io };

	proc_io_add(&used.io, &p->seen);
	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_used both = proc_member_both(p->members.all[i]);

		proc_used_add(&used, &both);
	}
	return used;
}

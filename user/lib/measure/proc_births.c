// SPDX-License-Identifier: BSD-2-Clause
/*
 * Births and ends that the kernel reports for a tree measured from /proc. Each process is counted
 * by the scan that finds it, or at its end.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/proc_source.h"
#include "measure/proc_state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS NSEC_PER_SEC
#define WINDOW_SHARE 50 /* part of the window for events, and for records */
#define WAKE_NS 15000   /* measured CPU time of a wake-up and timers */
#define SETTLE_TIMES 10
#define SETTLE_MS 5
#define EXIT_DEAD 0x10 /* kernel's exit_state */

static uint64_t boot_less_monotonic_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
}

static bool is_of_born(const struct proc_member *m, const struct born *b)
{
	return m && !m->end_is_reported && m->stat.start_ns <= b->start_boot_ns;
}

static void record_take_end(struct process_record *r, const uint32_t *status, uint64_t end_boot_ns)
{
	if (status) {
		r->flags |= PROCESS_ENDED;
		r->wait_status = *status;
	}
	if (end_boot_ns)
		r->end_boot_ns = end_boot_ns;
}

/* Makes a record without usage, for a process that was never scanned. */
static void record_make(struct proc_source *p, const struct born *b, struct process_record *r)
{
	struct proc_account *a = proc_accounts_find(&p->accounts, &b->account);

	a = a ? a : &p->accounts.all[0];
	a->total.forks++;
	*r = (struct process_record){
		.signal = ++p->serials,
		.serial = p->serials,
		.image = b->image,
		.start_boot_ns = b->start_boot_ns,
		.account = a->key,
		.pid = (uint32_t)b->pid,
		.tgid = (uint32_t)b->pid,
		.ppid = (uint32_t)b->parent,
		.uid = b->uid,
		.threads_total = b->threads_total,
		.execs = b->execs,
		.flags = PROCESS_UNREAD,
	};
	memcpy(r->comm, b->comm, sizeof(r->comm));
}

static void late_report(struct proc_source *p, struct born *b)
{
	proc_state_report(p, b->late);
	free(b->late);
	b->late = NULL;
	p->births.nr_late--;
}

/* In a storm of ends, some processes get no record, to limit the cost. */
static void unseen_report(struct proc_source *p, const struct born *b, const uint32_t *status,
			  uint64_t end_boot_ns)
{
	struct process_record r;

	record_make(p, b, &r);
	if (p->births.own_ns > WINDOW_NS / WINDOW_SHARE) {
		proc_accounts_find(&p->accounts, &r.account)->total.exits++;
		return;
	}
	r.state = STATE_READ | EXIT_DEAD;
	record_take_end(&r, status, end_boot_ns);
	proc_state_report(p, &r);
}

/* Handles the end of a process. @status may be NULL and @end_boot_ns 0 if unknown. */
static void born_end(struct proc_source *p, struct born *b, const uint32_t *status,
		     uint64_t end_boot_ns)
{
	const uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct proc_member *m;

	if (!b->is_seen) /* until something waits for it, all its values can be read */
		proc_state_look_at_born(p, b, NULL, NULL);
	m = proc_members_find(&p->members, b->pid);
	if (b->late) {
		record_take_end(b->late, status, end_boot_ns);
		late_report(p, b);
	} else if (!b->is_seen) {
		unseen_report(p, b, status, end_boot_ns);
	} else if (is_of_born(m, b)) {
		proc_state_take_born(m, b);
		record_take_end(&m->rec, m->is_reaped ? NULL : status, end_boot_ns);
	}
	born_remove(&p->births.live, b->pid);
	p->births.own_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

static void pending_add(struct proc_births *b, pid_t pid)
{
	const size_t room = b->room_pending ? b->room_pending * 2 : 64;
	pid_t *pending = b->pending;

	if (b->nr_pending == b->room_pending) {
		pending = memory_reallocarray(pending, room, sizeof(*pending));
		if (!pending)
			return; /* a full scan finds it */
		b->pending = pending;
		b->room_pending = room;
	}
	b->pending[b->nr_pending++] = pid;
}

/* A child starts with account, user and image of its parent. */
static void born_inherit(const struct proc_source *p, struct born *child, pid_t parent)
{
	const struct born *b = born_find(&p->births.live, parent);
	const struct proc_member *m = proc_members_find(&p->members, parent);

	child->account = p->accounts.all[0].key;
	/* events come in order, so @b has the user at the fork; @m may have ended, or read it later
	 */
	child->uid = b ? b->uid : m ? m->rec.uid : 0;
	if (b && !b->is_seen) {
		child->account = b->account;
		child->image = b->image;
		memcpy(child->comm, b->comm, sizeof(child->comm));
	} else if (b && is_of_born(m, b)) {
		child->account = m->rec.account;
		if (born_has_later_image(b, m))
			return;
		child->image = m->rec.image;
		memcpy(child->comm, m->rec.comm, sizeof(child->comm));
	}
}

static bool is_of_tree(const struct proc_source *p, pid_t parent, pid_t child)
{
	if (parent == p->launcher) /* an orphan, or a sibling that the command has created */
		return p->command && !own_children_had(&p->own, child);
	return born_find(&p->births.live, parent);
}

static void birth_take(struct proc_source *p, pid_t parent, pid_t pid, uint64_t boot_ns)
{
	struct born *b = born_find(&p->births.live, pid);

	if (!b && !is_of_tree(p, parent, pid))
		return;
	if (b && b->has_birth) { /* a lost end: the PID is reused */
		born_end(p, b, NULL, 0);
		b = NULL;
	}
	if (!b) {
		b = born_add(&p->births.live, pid);
		p->births.is_exact &= b != NULL;
		if (!b)
			return;
		born_inherit(p, b, parent);
		pending_add(&p->births, pid);
	}
	b->parent = parent;
	b->has_birth = true;
	b->threads = b->threads_total = 1;
	b->start_boot_ns = boot_ns;
}

static void exec_take(struct proc_source *p, pid_t pid, uint64_t time_ns)
{
	struct born *b = born_find(&p->births.live, pid);

	if (!b)
		return;
	b->execs++;
	b->exec_ns = time_ns;
	born_note_exec(b);
	b->image = 0;
	memset(b->comm, 0, sizeof(b->comm));
	p->births.has_exec |= b->is_seen;
}

/* Returns true if no thread is left, or only the first as a zombie. */
static bool process_has_ended(const struct born *b)
{
	struct proc_stat s;
	const int err = proc_stat_read(b->pid, &s);

	return err ? err == -ESRCH
		   : s.start_ns > b->start_boot_ns || (s.state == 'Z' && s.threads <= 1);
}

static void exit_take(struct proc_source *p, pid_t pid, pid_t tid, uint32_t code, uint64_t boot_ns)
{
	struct born *b = born_find(&p->births.live, pid);
	uint32_t status;

	if (!b)
		return;
	born_note_exit(b, tid == pid, code);
	if (b->threads > 1)
		b->threads--;
	else if (b->threads || process_has_ended(b))
		born_end(p, b, born_status(b, &status) ? &status : NULL, boot_ns);
}

static void births_take(void *context, const struct proc_event *e, uint64_t time_ns)
{
	struct proc_source *p = context;
	const uint64_t boot_ns = time_ns + p->births.boot_less_monotonic_ns;
	struct born *b;

	if (!p->births.is_on)
		return;
	switch ((unsigned)e->what) {
	case PROC_EVENT_FORK:
		if (e->event_data.fork.child_pid == e->event_data.fork.child_tgid) {
			birth_take(p, e->event_data.fork.parent_tgid, e->event_data.fork.child_tgid,
				   boot_ns);
			return;
		}
		b = born_find(&p->births.live, e->event_data.fork.child_tgid);
		if (b && b->threads) {
			b->threads++;
			b->threads_total++;
		}
		return;
	case PROC_EVENT_EXEC:
		exec_take(p, e->event_data.exec.process_tgid, time_ns);
		return;
	case PROC_EVENT_UID:
		b = born_find(&p->births.live, e->event_data.id.process_tgid);
		if (b)
			b->uid = e->event_data.id.r.ruid;
		return;
	case PROC_EVENT_EXIT:
		exit_take(p, e->event_data.exit.process_tgid, e->event_data.exit.process_pid,
			  e->event_data.exit.exit_code, boot_ns);
	}
}

/* After lost events: removes the processes that no longer exist. */
static void births_repair(struct proc_source *p)
{
	struct born_set *live = &p->births.live;
	size_t n = 0;
	pid_t *pids = memory_calloc(live->nr + 1, sizeof(*pids));

	p->births.is_exact = false;
	p->births.lost = p->births.from.lost;
	for (size_t i = 0; pids && i < live->slots; i++) {
		live->all[i].threads = 0;
		if (live->all[i].pid && process_has_ended(&live->all[i]))
			pids[n++] = live->all[i].pid;
	}
	while (n) /* by PID: removal moves entries */
		born_end(p, born_find(live, pids[--n]), NULL, 0);
	free(pids);
}

static void births_close(struct proc_source *p, const char *why)
{
	proc_births_expire(p, 0);
	p->births.missing = why;
	p->births.is_exact = false;
	proc_connector_close(&p->births.from);
	born_done(&p->births.live);
	p->births.nr_pending = 0;
	p->births.has_exec = false;
}

void proc_births_open(struct proc_source *p, unsigned inject_misses)
{
	proc_connector_open(&p->births.from, &p->births.missing);
	p->births.from.inject_misses = inject_misses;
}

void proc_births_begin(struct proc_source *p, pid_t command)
{
	struct proc_births *births = &p->births;
	struct born *b = NULL;

	if (births->from.fd < 0)
		return;
	proc_births_receive(p); /* earlier events are not of the tree */
	proc_connector_restart(&births->from);
	births->is_on = true;
	if (command)
		b = born_add(&births->live, command);
	births->is_exact = b;
	if (!b)
		return;
	b->threads = b->threads_total = 1;
	b->has_birth = true;
	b->parent = p->launcher;
	b->start_boot_ns = clock_ns(CLOCK_BOOTTIME);
	b->account = p->accounts.all[0].key;
}

void proc_births_receive(struct proc_source *p)
{
	struct proc_births *b = &p->births;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), own_ns = b->own_ns;
	uint64_t cpu_ns;

	if (b->from.fd < 0)
		return;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	b->boot_less_monotonic_ns = boot_less_monotonic_ns();
	proc_connector_receive(&b->from, births_take, p);
	if (b->is_on && b->from.lost > b->lost)
		births_repair(p);
	b->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns - (b->own_ns - own_ns) + WAKE_NS;
	if (now_ns - b->since_ns < WINDOW_NS)
		return;
	if (b->is_on && b->since_ns && b->spent_ns > (now_ns - b->since_ns) / WINDOW_SHARE)
		births_close(p, "too many events on this machine");
	b->since_ns = now_ns;
	b->spent_ns = b->own_ns = 0;
}

/* Returns true if a process is gone whose end was not reported yet. */
static bool births_lack_an_end(const struct proc_births *b)
{
	for (size_t i = 0; i < b->live.slots; i++)
		if (b->live.all[i].pid && process_has_ended(&b->live.all[i]))
			return true;
	return false;
}

void proc_births_settle(struct proc_source *p)
{
	struct pollfd fd = { .fd = p->births.from.fd, .events = POLLIN };

	proc_births_receive(p);
	for (int i = 0; i < SETTLE_TIMES && p->births.is_exact; i++) {
		if (!births_lack_an_end(&p->births))
			return;
		poll(&fd, 1, SETTLE_MS);
		proc_births_receive(p);
	}
}

void proc_births_expire(struct proc_source *p, uint64_t ns)
{
	const struct born_set *live = &p->births.live;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; p->births.nr_late && i < live->slots; i++)
		if (live->all[i].pid && live->all[i].late && now_ns - live->all[i].late_ns >= ns)
			late_report(p, &live->all[i]);
}

void proc_births_end(struct proc_source *p,
		     void (*record)(void *context, const struct process_record *r), void *context)
{
	const struct born_set *live = &p->births.live;
	struct process_record r;

	proc_births_expire(p, 0);
	for (size_t i = 0; i < live->slots; i++) {
		if (!live->all[i].pid || live->all[i].is_seen)
			continue;
		record_make(p, &live->all[i], &r);
		record(context, &r);
	}
}

int proc_source_births_fd(const struct proc_source *p)
{
	return p->births.from.fd;
}

bool proc_source_counts_all(const struct proc_source *p)
{
	return p->births.is_exact;
}

uint64_t proc_source_births_lost(const struct proc_source *p)
{
	return p->births.lost;
}

const char *proc_source_births_missing(const struct proc_source *p)
{
	return p->births.missing;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "track/proc_source.h"

#include "base/clock.h"
#include "base/own_children.h"
#include "track/proc_member.h"
#include "track/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FULL_NS (100 * NSEC_PER_MSEC) /* the longest between looks of that kind */
#define WHOLE_NS NSEC_PER_SEC
#define OPEN_MOST 1024
#define LOOK_FIRST_NS NSEC_PER_MSEC
#define LOOK_LAST_NS NSEC_PER_SEC
#define LOOK_SHARE 50 /* times as long as a look takes, in CPU time, is not looked */

struct proc_source {
	pid_t launcher, command;
	struct own_children own; /* the launcher's children that are not of the tree */
	bool wants_args, misses_children, misses_io;
	bool awaits_exec; /* the command is a copy of the launcher still */
	proc_event_fn event;
	void *context;
	struct proc_files of_launcher;
	struct proc_members members;
	struct proc_budget budget;
	pid_t *stack; /* owned; children that are still to be looked at */
	size_t nr_stack, room_stack;
	bool lacks_memory;
	enum proc_look kind; /* of the look that goes on */
	uint64_t pause_ns;   /* until the next look between drains */
	uint64_t look, full_ns, whole_ns, serials, nr_born, nr_ended;
	struct reaped reaped, reaped_by_now; /* as of the last look; and what came after it */
	struct proc_io seen,
		seen_by_now; /* of those the last of which the launcher could not read */
	struct account live, total;
	struct proc_io live_io; /* that of @live */
};

/* The collector opens other files as well. */
static unsigned open_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > OPEN_MOST)
		return OPEN_MOST;
	return (unsigned)limit.rlim_cur / 2;
}

struct proc_source *proc_source_new(pid_t launcher, bool wants_args)
{
	struct proc_source *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->launcher = launcher;
	p->wants_args = wants_args;
	p->budget.most = open_most();
	proc_files_init(&p->of_launcher, launcher);
	return p;
}

void proc_source_free(struct proc_source *p)
{
	if (!p)
		return;
	proc_members_done(&p->members, &p->budget);
	proc_files_done(&p->of_launcher, &p->budget.nr_open);
	free(p->stack);
	free(p);
}

static const char *why_unusable(enum metric_id id)
{
	static const char needs_bpf[] = "only known with BPF; the source is /proc";
	static const enum metric_id known[] = {
		M_cpu,       M_user,   M_system, M_minflt, M_majflt, M_nvcsw, M_nivcsw,
		M_rchar,     M_wchar,  M_syscr,  M_syscw,  M_read,   M_write, M_cancelled_write,
		M_processes, M_threads
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i] == id)
			return NULL;
	switch (metric_get(id)->source) {
	case SOURCE_MEMORY:
	case SOURCE_DERIVED:
	case SOURCE_CGROUP:
	case SOURCE_HOST:
		return NULL;
	case SOURCE_PROCFS:
		return access("/proc/self/smaps_rollup", R_OK)
			       ? "kernel does not report it: needs CONFIG_PROC_PAGE_MONITOR"
			       : NULL;
	default:
		return needs_bpf;
	}
}

void proc_source_metrics(const struct metric_set *wanted, struct metric_set *usable,
			 const char *unusable[NR_METRICS])
{
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		unusable[i] = metric_has(wanted, id) ? why_unusable(id) : NULL;
		if (metric_has(wanted, id) && !unusable[i])
			metric_put(usable, id);
	}
}

void proc_source_listen(struct proc_source *p, proc_event_fn fn, void *context)
{
	p->event = fn;
	p->context = context;
}

int proc_source_follow(struct proc_source *p, pid_t command)
{
	struct proc_stat s;
	int err;

	p->command = command;
	err = own_children_read(&p->own, p->launcher, command);
	if (err)
		return err;
	err = proc_stat_read(command, &s);
	p->awaits_exec = true;
	return err ? err : proc_source_drain(p, true, NULL, NULL);
}

static void stack_push(void *context, pid_t pid)
{
	struct proc_source *p = context;
	size_t room = p->room_stack ? p->room_stack * 2 : 64;
	pid_t *stack = p->stack;

	if (p->nr_stack == p->room_stack) {
		stack = reallocarray(stack, room, sizeof(*stack));
		p->lacks_memory |= !stack;
		if (!stack)
			return;
		p->stack = stack;
		p->room_stack = room;
	}
	stack[p->nr_stack++] = pid;
}

/* A new image, which the process has executed or inherited. */
static void image_report(struct proc_source *p, struct proc_member *m)
{
	struct exec_event e;

	m->rec.image = ++p->serials;
	if (!p->event || image_of_running(m->files.pid, p->wants_args, &e))
		return;
	e.image = m->rec.image;
	p->event(p->context, &e, sizeof(e));
}

static void member_begin(struct proc_source *p, struct proc_member *m)
{
	struct process_record *r = &m->rec;
	const pid_t pid = m->files.pid;

	r->signal = r->serial = ++p->serials;
	r->start_boot_ns = m->stat.start_ns;
	r->account.tree = (uint64_t)p->command;
	r->pid = r->tgid = (uint32_t)pid;
	r->flags = PROCESS_PEAK_UPPER_BOUND | (pid == p->command ? PROCESS_ROOT : 0);
	p->nr_born++;
}

/* What it has used, and those that it has waited for. */
static void live_add(struct proc_source *p, const struct proc_member *m)
{
	const struct proc_stat *s = &m->stat;
	struct account *a = &p->live;

	a->user += s->user_ns + s->children_user_ns;
	a->system += s->system_ns + s->children_system_ns;
	a->minflt += s->minflt + s->children_minflt;
	a->majflt += s->majflt + s->children_majflt;
	a->nvcsw += m->rec.counters.nvcsw;
	a->nivcsw += m->rec.counters.nivcsw;
	a->threads += s->threads;
	proc_io_add(&p->live_io, &m->io);
}

/* It has been read: another name is that of another program. */
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

/* Looks at a process, and at its children after it: what moves to it meanwhile is counted at the
 * next look, and not twice. */
static void member_look(struct proc_source *p, struct proc_member *m, proc_row_fn row,
			void *context)
{
	int err = proc_member_look(m, p->kind, &p->budget);

	if (err == -ESRCH)
		return;
	m->look = p->look;
	if (!err && m->is_changed) {
		member_take(p, m);
		proc_member_children(m, p->kind, &p->budget, stack_push, p);
	}
	live_add(p, m);
	if (row)
		row(context, &m->row);
}

/* The PID of one that has ended may be another's; that is looked at now and then. */
static bool is_of_bpfmon(const struct proc_source *p, pid_t pid)
{
	return own_children_had(&p->own, pid) &&
	       (p->kind == LOOK_QUICK || own_children_has(&p->own, pid));
}

/* One that may be new. */
static void child_look(struct proc_source *p, pid_t pid, proc_row_fn row, void *context)
{
	struct proc_member *m = proc_members_find(&p->members, pid);

	if ((m && m->look == p->look) || is_of_bpfmon(p, pid))
		return;
	m = proc_member_new(pid);
	p->lacks_memory |= !m;
	/* one that ends before its files were read has no record: nothing is known of it */
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
	live_add(p, m);
	if (row)
		row(context, &m->row);
	proc_member_children(m, LOOK_FULL, &p->budget, stack_push, p);
}

/* Its end was not seen, unless the launcher has waited for it. */
static void member_end(void *context, struct proc_member *m)
{
	struct process_event e = { .kind = EVENT_PROCESS };
	struct proc_source *p = context;

	p->nr_ended++;
	proc_member_end(m);
	e.rec = m->rec;
	if (p->event)
		p->event(p->context, &e, sizeof(e));
	proc_member_free(m, &p->budget);
}

static void child_note_end(struct proc_source *p, const struct proc_member *m)
{
	struct proc_member *parent = proc_members_find(&p->members, m->stat.parent);

	if (parent)
		proc_children_add(&parent->children, &m->stat, &m->io);
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

int proc_source_drain(struct proc_source *p, bool whole, proc_row_fn row, void *context)
{
	const size_t known = p->members.nr;
	int err;

	p->look++;
	p->kind = look_kind(p, whole);
	p->live = (struct account){ 0 };
	p->live_io = (struct proc_io){ 0 };
	p->nr_stack = 0;
	/* now: what it waits for from here on may be seen alive, and is not to be counted twice */
	p->reaped = p->reaped_by_now;
	p->seen = p->seen_by_now;
	err = proc_files_children(&p->of_launcher, &p->budget.nr_open, p->budget.most, stack_push,
				  p);
	for (size_t i = 0; i < known; i++)
		member_look(p, p->members.all[i], row, context);
	while (p->nr_stack)
		child_look(p, p->stack[--p->nr_stack], row, context);
	for (size_t i = 0; i < p->members.nr; i++) /* first: a parent may have ended, too */
		if (p->members.all[i]->look != p->look)
			child_note_end(p, p->members.all[i]);
	proc_members_sweep(&p->members, p->look, member_end, p);
	return err ? err : p->lacks_memory ? -ENOMEM : 0;
}

static void raise_to(__u64 *published, uint64_t now)
{
	if (now > *published)
		*published = now;
}

uint64_t proc_source_look(struct proc_source *p)
{
	const uint64_t born = p->nr_born;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	proc_source_drain(p, false, NULL, NULL);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	p->pause_ns = p->nr_born > born ? LOOK_FIRST_NS : 2 * p->pause_ns;
	if (p->pause_ns < LOOK_FIRST_NS)
		p->pause_ns = LOOK_FIRST_NS;
	if (p->pause_ns < LOOK_SHARE * cpu_ns)
		p->pause_ns = LOOK_SHARE * cpu_ns;
	if (p->pause_ns > LOOK_LAST_NS)
		p->pause_ns = LOOK_LAST_NS;
	return p->pause_ns;
}

void proc_source_note_reaped(struct proc_source *p, const struct reaped *r)
{
	struct proc_member *m = proc_members_find(&p->members, r->last);
	struct proc_io seen;

	p->reaped_by_now = *r;
	p->misses_io |= r->io_unread > 0;
	if (!m || m->is_reaped)
		return;
	if (r->last_is_unread) {
		seen = m->io;
		seen.read_bytes = seen.write_bytes = 0; /* known by wait4() all the same */
		proc_io_add(&p->seen_by_now, &seen);
	}
	proc_member_note_reaped(m, r);
}

uint64_t proc_source_peak(const struct proc_source *p)
{
	return p->reaped_by_now.peak_bytes;
}

void proc_source_total(struct proc_source *p, struct account_key *key, struct account *total)
{
	const struct reaped *r = &p->reaped;
	struct account *t = &p->total;
	struct proc_io io = r->io;

	proc_io_add(&io, &p->seen);
	proc_io_add(&io, &p->live_io);
	/* a process that ends between two files of a look is in neither: the next look has it */
	raise_to(&t->user, r->user_ns + p->live.user);
	raise_to(&t->system, r->system_ns + p->live.system);
	raise_to(&t->minflt, r->minflt + p->live.minflt);
	raise_to(&t->majflt, r->majflt + p->live.majflt);
	raise_to(&t->nvcsw, r->nvcsw + p->live.nvcsw);
	raise_to(&t->nivcsw, r->nivcsw + p->live.nivcsw);
	raise_to(&t->rchar, io.rchar);
	raise_to(&t->wchar, io.wchar);
	raise_to(&t->syscr, io.syscr);
	raise_to(&t->syscw, io.syscw);
	raise_to(&t->read, io.read_bytes);
	raise_to(&t->write, io.write_bytes);
	raise_to(&t->cancelled_write, io.cancelled_write_bytes);
	t->cpu = t->user + t->system;
	t->threads = p->live.threads;
	t->roots = p->nr_born > 0;
	t->forks = p->nr_born - t->roots;
	t->exits = p->nr_ended;
	*key = (struct account_key){ .tree = (uint64_t)p->command };
	*total = *t;
}

void proc_source_each(const struct proc_source *p,
		      void (*fn)(void *context, const struct process_record *r), void *context)
{
	for (size_t i = 0; i < p->members.nr; i++)
		fn(context, &p->members.all[i]->rec);
}

const struct process_record *proc_source_find(const struct proc_source *p, uint64_t signal,
					      uint64_t serial)
{
	const struct proc_member *m =
		signal == serial ? proc_members_find_serial(&p->members, serial) : NULL;

	return m ? &m->rec : NULL;
}

const struct process_record *proc_source_find_pid(const struct proc_source *p, pid_t pid)
{
	const struct proc_member *m = proc_members_find(&p->members, pid);

	return m ? &m->rec : NULL;
}

int proc_source_retire(struct proc_source *p,
		       void (*record)(void *context, const struct process_record *r), void *context)
{
	int nr = (int)p->members.nr;

	proc_source_each(p, record, context);
	proc_members_done(&p->members, &p->budget);
	return nr;
}

void proc_source_bounds(const struct proc_source *p, const struct metric_set *usable,
			struct metric_set *bounds)
{
	static const enum metric_id unread[] = { M_rchar, M_wchar, M_syscr, M_syscw,
						 M_cancelled_write };

	for (int i = 0; p->misses_children && i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) &&
		    (source == SOURCE_TASK || source == SOURCE_SPLIT))
			metric_put(bounds, (enum metric_id)i);
	}
	for (size_t i = 0; p->misses_io && i < sizeof(unread) / sizeof(*unread); i++)
		if (metric_has(usable, unread[i]))
			metric_put(bounds, unread[i]);
}

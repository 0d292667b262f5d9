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
#include <unistd.h>

#define FULL_NS (100 * NSEC_PER_MSEC) /* the longest between looks at all files of the tree */
#define OPEN_MOST 256
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
	struct members members; /* by PID */
	struct members added;   /* in the look that goes on */
	pid_t *stack;           /* owned; still to be looked at */
	size_t nr_stack, room_stack;
	bool lacks_memory;
	uint64_t pause_ns; /* until the next look between drains */
	uint64_t look, full_ns, serials, nr_born, nr_ended;
	unsigned nr_open;
	struct reaped reaped, reaped_by_now; /* as of the last look; and what came after it */
	struct proc_io seen,
		seen_by_now; /* of those the last of which the launcher could not read */
	struct account live, total;
	struct proc_io live_io; /* that of @live */
};

struct proc_source *proc_source_new(pid_t launcher, bool wants_args)
{
	struct proc_source *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->launcher = launcher;
	p->wants_args = wants_args;
	return p;
}

static void member_close(struct proc_source *p, struct member *m)
{
	if (m->stat_fd < 0)
		return;
	close(m->stat_fd);
	m->stat_fd = -1;
	p->nr_open--;
}

static void members_close(struct proc_source *p, struct members *all)
{
	for (size_t i = 0; i < all->nr; i++)
		member_close(p, &all->all[i]);
	all->nr = 0;
}

void proc_source_free(struct proc_source *p)
{
	if (!p)
		return;
	members_close(p, &p->members);
	members_close(p, &p->added);
	free(p->members.all);
	free(p->added.all);
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
	return err ? err : proc_source_drain(p, NULL, NULL);
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
static void image_report(struct proc_source *p, struct member *m)
{
	struct exec_event e;

	m->rec.image = ++p->serials;
	if (!p->event || image_of_running(m->pid, p->wants_args, &e))
		return;
	e.image = m->rec.image;
	p->event(p->context, &e, sizeof(e));
}

static struct member *member_add(struct proc_source *p, pid_t pid, const struct proc_stat *s)
{
	struct member *m = members_put(&p->added);
	struct process_record *r;

	if (!m) {
		p->lacks_memory = true;
		return NULL;
	}
	m->pid = pid;
	m->start_ns = s->start_ns;
	m->stat_fd = p->nr_open < OPEN_MOST ? proc_stat_open(pid) : -1;
	p->nr_open += m->stat_fd >= 0;
	r = &m->rec;
	r->signal = r->serial = ++p->serials;
	r->start_boot_ns = s->start_ns;
	r->account.tree = (uint64_t)p->command;
	r->pid = r->tgid = (uint32_t)pid;
	r->flags = PROCESS_PEAK_UPPER_BOUND | (pid == p->command ? PROCESS_ROOT : 0);
	r->threads_total = s->threads;
	p->nr_born++;
	return m;
}

/* What it has used, and those that it has waited for. */
static void live_add(struct proc_source *p, const struct member *m)
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

/* Looks at a process, and at its children after it: what moves to it meanwhile is counted at the
 * next look, and not twice. */
static void member_look(struct proc_source *p, pid_t pid, proc_row_fn row, void *context)
{
	struct proc_status status = { 0 };
	struct proc_stat s;
	struct member *m;
	bool is_new;
	int err;

	m = members_find(&p->members, pid);
	if ((m && m->look == p->look) || proc_stat_read(pid, &s) ||
	    own_children_has_born(&p->own, pid, s.start_ns))
		return;
	is_new = !m || m->start_ns != s.start_ns;
	if (is_new)
		m = member_add(p, pid, &s);
	if (!m)
		return;
	is_new |= strcmp(m->stat.comm, s.comm) != 0;
	if (pid == p->command && p->awaits_exec && *m->stat.comm && is_new) {
		m->rec.rss_peak_pages = m->rec.rss_bound_pages = 0;
		p->awaits_exec = false;
	}
	m->look = p->look;
	m->stat = s;
	err = proc_io_read(pid, &m->io);
	p->misses_io |= err == -EACCES || err == -EPERM;
	proc_status_read(pid, &status);
	p->misses_children |= status.ignores_children;
	if (is_new && s.state != 'Z')
		image_report(p, m);
	member_fill(m, &status);
	live_add(p, m);
	if (row)
		row(context, &m->row);
	if (s.state != 'Z')
		proc_each_child(pid, s.threads, stack_push, p);
}

/* True if nothing of it has changed since the last look. A process that has run, forked or touched
 * memory has another text. */
static bool member_is_quiet(struct member *m)
{
	char text[STAT_BYTES];
	ssize_t n = m->stat_fd < 0 ? -1 : pread(m->stat_fd, text, sizeof(text) - 1, 0);
	bool is_quiet;

	if (n <= 0)
		return false;
	text[n] = '\0';
	is_quiet = !strcmp(text, m->text);
	memcpy(m->text, text, (size_t)n + 1);
	return is_quiet;
}

/* Between looks at all files: only what has changed is looked at. */
static void members_look(struct proc_source *p, proc_row_fn row, void *context)
{
	for (size_t i = 0; i < p->members.nr; i++) {
		struct member *m = &p->members.all[i];

		if (!member_is_quiet(m)) {
			stack_push(p, m->pid);
			continue;
		}
		m->look = p->look;
		live_add(p, m);
		if (row)
			row(context, &m->row);
	}
}

/* Its end was not seen, unless the launcher has waited for it. */
static void member_end(struct proc_source *p, struct member *m)
{
	struct process_event e = { .kind = EVENT_PROCESS };

	p->nr_ended++;
	member_close(p, m);
	member_note_end(m);
	e.rec = m->rec;
	if (p->event)
		p->event(p->context, &e, sizeof(e));
}

/* Those that were not met have ended; what was added is one of them from now on. */
static void members_settle(struct proc_source *p)
{
	struct members *m = &p->members;
	struct member *parent;
	size_t n = 0;

	for (size_t i = 0; i < m->nr; i++) { /* first: a parent may have ended, too */
		if (m->all[i].look != p->look && (parent = members_find(m, m->all[i].stat.parent)))
			proc_children_add(&parent->children, &m->all[i].stat, &m->all[i].io);
	}
	for (size_t i = 0; i < m->nr; i++) {
		if (m->all[i].look == p->look)
			m->all[n++] = m->all[i];
		else
			member_end(p, &m->all[i]);
	}
	m->nr = n;
	for (size_t i = 0; i < p->added.nr; i++) {
		struct member *new = members_put(m);

		if (new)
			*new = p->added.all[i];
		else
			p->lacks_memory = true;
	}
	p->added.nr = 0;
	members_sort(m);
}

int proc_source_drain(struct proc_source *p, proc_row_fn row, void *context)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	p->look++;
	p->live = (struct account){ 0 };
	p->live_io = (struct proc_io){ 0 };
	p->nr_stack = 0;
	/* now: what it waits for from here on may be seen alive, and is not to be counted twice */
	p->reaped = p->reaped_by_now;
	p->seen = p->seen_by_now;
	err = proc_each_child(p->launcher, 1, stack_push, p);
	if (now_ns - p->full_ns < FULL_NS)
		members_look(p, row, context);
	else
		p->full_ns = now_ns;
	while (p->nr_stack)
		member_look(p, p->stack[--p->nr_stack], row, context);
	members_settle(p);
	return err ? err : p->lacks_memory ? -ENOMEM : 0;
}

uint64_t proc_source_look(struct proc_source *p)
{
	const uint64_t born = p->nr_born;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	proc_source_drain(p, NULL, NULL);
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
	struct member *m = members_find(&p->members, r->last);
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
	member_note_reaped(m, r);
}

uint64_t proc_source_peak(const struct proc_source *p)
{
	return p->reaped_by_now.peak_bytes;
}

static void raise_to(__u64 *published, uint64_t now)
{
	if (now > *published)
		*published = now;
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
		fn(context, &p->members.all[i].rec);
}

const struct process_record *proc_source_find(const struct proc_source *p, uint64_t signal,
					      uint64_t serial)
{
	for (size_t i = 0; signal == serial && i < p->members.nr; i++)
		if (p->members.all[i].rec.serial == serial)
			return &p->members.all[i].rec;
	return NULL;
}

const struct process_record *proc_source_find_pid(const struct proc_source *p, pid_t pid)
{
	const struct member *m = members_find(&p->members, pid);

	return m ? &m->rec : NULL;
}

int proc_source_retire(struct proc_source *p,
		       void (*record)(void *context, const struct process_record *r), void *context)
{
	int nr = (int)p->members.nr;

	for (size_t i = 0; i < p->members.nr; i++)
		record(context, &p->members.all[i].rec);
	members_close(p, &p->members);
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

// SPDX-License-Identifier: BSD-2-Clause
#include "track/proc_source.h"

#include "base/clock.h"
#include "base/own_children.h"
#include "track/proc_accounts.h"
#include "track/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FULL_NS (100 * NSEC_PER_MSEC) /* the longest between looks of that kind */
#define WHOLE_NS NSEC_PER_SEC
#define SEED_PASSES 8
#define TOLD_NS (200 * NSEC_PER_MSEC) /* the launcher tells soon how a child has ended */
#define LOOK_FIRST_NS NSEC_PER_MSEC
#define LOOK_LAST_NS NSEC_PER_SEC
#define LOOK_ATTACHED_NS (100 * NSEC_PER_MSEC)
#define LOOK_SHARE 50 /* times as long as a look takes, in CPU time, is not looked */

struct proc_source {
	pid_t launcher;
	pid_t command;           /* 0: attached to what runs */
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
	uint64_t look, full_ns, whole_ns, serials, nr_born;
	struct reaped reaped, reaped_by_now; /* as of the last look; and what came after it */
	struct proc_io seen,
		seen_by_now;           /* of those the last of which the launcher could not read */
	struct proc_accounts accounts; /* that of the tree is the first */
	struct account run;            /* of a command: the sum of all, as it was published last */
	struct account removed;        /* the sum of those that were removed */
	uint64_t seeded_boot_ns;       /* what is older had run before */
	struct proc_used baseline;     /* of that: what the processes themselves had used */
	bool baseline_lacks_io, is_seeding, has_moved; /* the last: a process to another account */
	struct tracking tracking;
};

struct proc_source *proc_source_new(pid_t launcher, bool wants_args)
{
	struct proc_source *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->launcher = launcher;
	p->wants_args = wants_args;
	p->budget = proc_budget_of_process();
	proc_files_init(&p->of_launcher, launcher);
	return p;
}

void proc_source_free(struct proc_source *p)
{
	if (!p)
		return;
	proc_members_done(&p->members, &p->budget);
	proc_files_done(&p->of_launcher, &p->budget.nr_open);
	proc_accounts_done(&p->accounts);
	free(p->stack);
	free(p);
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
	if (!err)
		err = proc_accounts_add(&p->accounts,
					&(struct account_key){ .tree = (uint64_t)command });
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

/* One that is attached to counts from then on, as what is found later and began before. */
static void member_seed(struct proc_source *p, struct proc_member *m)
{
	proc_member_set_base(m);
	proc_accounts_forget(&p->accounts, m);
	m->rec.flags |= PROCESS_SEEDED;
	m->rec.joined_boot_ns = clock_ns(CLOCK_BOOTTIME);
}

/* It is in the account of its parent. */
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
	if (row && !m->is_told)
		row(context, &m->row);
}

/* The PID of one that has ended may be another's; that is looked at now and then. */
static bool is_of_bpfmon(const struct proc_source *p, pid_t pid)
{
	return pid == p->launcher || (own_children_had(&p->own, pid) &&
				      (p->kind == LOOK_QUICK || own_children_has(&p->own, pid)));
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
	if (m->stat.start_ns < p->seeded_boot_ns)
		member_seed(p, m);
	if (row)
		row(context, &m->row);
	proc_member_children(m, LOOK_FULL, &p->budget, stack_push, p);
}

/* Its end was not seen, unless the launcher has waited for it. */
static void end_report(struct proc_source *p, struct proc_member *m)
{
	struct process_event e = { .kind = EVENT_PROCESS };
	struct proc_account *a = proc_accounts_find(&p->accounts, &m->rec.account);

	m->is_told = true;
	if (a)
		a->total.exits++;
	proc_member_end(m);
	e.rec = m->rec;
	if (p->event && !p->is_seeding)
		p->event(p->context, &e, sizeof(e));
}

static void member_end(void *context, struct proc_member *m)
{
	struct proc_source *p = context;

	if (!m->is_told)
		end_report(p, m);
	proc_member_free(m, &p->budget);
}

/* A zombie of an attachment has ended, whenever its parent waits for it; those of a command are
 * the launcher's to wait for. */
static bool zombie_has_ended(const struct proc_source *p, const struct proc_member *m)
{
	return !p->command && !m->is_told && m->stat.state == 'Z' && m->stat.threads <= 1;
}

static void child_note_end(struct proc_source *p, const struct proc_member *m)
{
	struct proc_member *parent = proc_members_find(&p->members, m->stat.parent);
	const struct proc_used used = proc_member_both(m);

	if (parent)
		proc_used_add(&parent->children, &used);
}

/* Of a command without spans the total is all that is to be known. */
static bool keeps_shares(const struct proc_source *p)
{
	return !p->command || p->has_moved;
}

/* The launcher has waited for it, and will tell how it ended. */
static bool member_is_awaited(const struct proc_source *p, struct proc_member *m)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!p->command || m->is_reaped || m->stat.parent != p->launcher)
		return false;
	if (!m->gone_ns)
		m->gone_ns = now_ns;
	return now_ns - m->gone_ns < TOLD_NS;
}

static void members_settle(struct proc_source *p)
{
	const struct proc_members *all = &p->members;

	for (size_t i = 0; i < all->nr; i++)
		if (all->all[i]->look != p->look && member_is_awaited(p, all->all[i]))
			all->all[i]->look = p->look;
	for (size_t i = 0; i < all->nr; i++) /* first: a parent may have ended, too */
		if (all->all[i]->look != p->look)
			child_note_end(p, all->all[i]);
	if (keeps_shares(p))
		proc_accounts_settle(&p->accounts, all, p->look);
	for (size_t i = 0; i < all->nr; i++)
		if (zombie_has_ended(p, all->all[i]))
			end_report(p, all->all[i]);
	proc_members_sweep(&p->members, p->look, member_end, p);
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
	int err = 0;

	if (keeps_shares(p))
		proc_accounts_begin(&p->members);
	p->look++;
	p->kind = look_kind(p, whole);
	p->nr_stack = 0;
	/* now: what it waits for from here on may be seen alive, and is not to be counted twice */
	p->reaped = p->reaped_by_now;
	p->seen = p->seen_by_now;
	if (p->command) /* orphans of the tree are children of the launcher */
		err = proc_files_children(&p->of_launcher, &p->budget.nr_open, p->budget.most,
					  stack_push, p);
	for (size_t i = 0; i < known; i++)
		member_look(p, p->members.all[i], row, context);
	while (p->nr_stack)
		child_look(p, p->stack[--p->nr_stack], row, context);
	members_settle(p);
	return err ? err : p->lacks_memory ? -ENOMEM : 0;
}

/* True if one of @pids is an ancestor of @pid: then it is found from there, and comes after it. */
static bool is_below_one(const pid_t *pids, size_t nr, pid_t pid)
{
	struct proc_stat s;

	while (pid > 1 && !proc_stat_read(pid, &s)) {
		pid = s.parent;
		for (size_t i = 0; i < nr; i++)
			if (pids[i] == pid)
				return true;
	}
	return false;
}

/* From now on it counts; what was born before and is found later counts from when it is found. */
static void source_begin(struct proc_source *p)
{
	struct proc_account *a = p->accounts.all;

	a->kept = (struct proc_used){ 0 };
	a->total = (struct account){ 0 };
	p->baseline_lacks_io = p->misses_io;
	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_member *m = p->members.all[i];
		struct proc_used children = proc_member_inherited(m);

		a->total.roots += !m->is_told; /* else it is a zombie already */
		member_seed(p, m);
		proc_used_add(&p->baseline, &m->base);
		children.io = (struct proc_io){ 0 };
		p->baseline_lacks_io |= !proc_used_is_zero(&children); /* in one sum with its own */
		p->tracking.seeded += m->stat.threads;
	}
	p->seeded_boot_ns = clock_ns(CLOCK_BOOTTIME);
	p->is_seeding = false;
}

int proc_source_seed(struct proc_source *p, const pid_t *pids, size_t nr)
{
	int err = own_children_read(&p->own, p->launcher, 0);

	if (!err)
		err = proc_accounts_add(&p->accounts,
					&(struct account_key){ .tree = (uint64_t)pids[0] });
	if (err)
		return err;
	p->is_seeding = true;
	for (size_t i = 0; i < nr; i++)
		if (!is_below_one(pids, nr, pids[i]))
			child_look(p, pids[i], NULL, NULL);
	/* of a child that ends during a look it is not known what its parent has got from it */
	for (int i = 0; !err && i < SEED_PASSES; i++) {
		p->accounts.all->total.exits = 0;
		err = proc_source_drain(p, true, NULL, NULL);
		for (size_t k = 0; k < nr; k++) /* if it was missed where it was looked for */
			child_look(p, pids[k], NULL, NULL);
		if (i && !p->accounts.all->total.exits)
			break;
	}
	source_begin(p);
	return err;
}

const struct tracking *proc_source_tracking(const struct proc_source *p)
{
	return &p->tracking;
}

void proc_source_baseline(const struct proc_source *p, const struct metric_set *usable,
			  uint64_t *values, struct metric_set *have)
{
	struct metric_set known = *usable;
	struct account a = { 0 };

	for (int i = 0; p->baseline_lacks_io && i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->group == GROUP_IO)
			metric_drop(&known, (enum metric_id)i);
	proc_used_publish(&p->baseline, &a);
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(&known, M_##base)) {                                                        \
		values[M_##base] = a.base;                                                         \
		metric_put(have, M_##base);                                                        \
	}
#define DELAY_METRIC(base, ...)
#define SPLIT_METRIC(base, ...)                                                                    \
	if (metric_has(&known, M_##base)) {                                                        \
		values[M_##base] = a.base;                                                         \
		metric_put(have, M_##base);                                                        \
	}
#include "bpfmon/metrics.def"
}

uint64_t proc_source_look(struct proc_source *p)
{
	/* what a process of an attachment used after the last look may be lost */
	const uint64_t last_ns = p->command ? LOOK_LAST_NS : LOOK_ATTACHED_NS;
	const uint64_t born = p->nr_born;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	proc_source_drain(p, false, NULL, NULL);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	p->pause_ns = p->nr_born > born ? LOOK_FIRST_NS : 2 * p->pause_ns;
	if (p->pause_ns < LOOK_FIRST_NS)
		p->pause_ns = LOOK_FIRST_NS;
	if (p->pause_ns < LOOK_SHARE * cpu_ns)
		p->pause_ns = LOOK_SHARE * cpu_ns;
	if (p->pause_ns > last_ns)
		p->pause_ns = last_ns;
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

/* Of a command: what its own account has is what is in no other. */
static void command_total(struct proc_source *p)
{
	const struct reaped *r = &p->reaped;
	struct proc_account *all = p->accounts.all;
	const struct account own = all->total;
	struct proc_used used = { r->user_ns, r->system_ns, r->minflt, r->majflt,
				  r->nvcsw,   r->nivcsw,    r->io };

	proc_io_add(&used.io, &p->seen);
	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_used both = proc_member_both(p->members.all[i]);

		proc_used_add(&used, &both);
	}
	/* a process that ends between two files of a look is in neither: the next look has it */
	proc_used_publish(&used, &p->run);
	all->total = p->run;
	for (size_t i = 1; i < p->accounts.nr; i++)
		account_subtract(&all->total, &all[i].total);
	account_subtract(&all->total, &p->removed);
	all->total.cpu = all->total.user + all->total.system;
	all->total.threads = own.threads;
	all->total.roots = own.roots;
	all->total.forks = own.forks;
	all->total.exits = own.exits;
	all->total.moved_in = own.moved_in;
	all->total.moved_out = own.moved_out;
}

int proc_source_accounts(struct proc_source *p, struct accounts *accounts)
{
	if (p->accounts.nr > accounts->most)
		return -ENOSPC;
	proc_accounts_total(&p->accounts, &p->members);
	if (p->command)
		command_total(p);
	accounts->nr = p->accounts.nr;
	for (size_t i = 0; i < p->accounts.nr; i++) {
		accounts->keys[i] = p->accounts.all[i].key;
		accounts->totals[i] = p->accounts.all[i].total;
	}
	return 0;
}

int proc_source_move(struct proc_source *p, pid_t pid, const struct account_key *to)
{
	struct proc_member *m;
	int err = proc_source_drain(p, false, NULL, NULL);

	m = err ? NULL : proc_members_find(&p->members, pid);
	if (!m || m->is_told)
		return err ? err : -ESRCH;
	if (!proc_accounts_find(&p->accounts, to))
		err = proc_accounts_add(&p->accounts, to);
	if (err)
		return err;
	p->has_moved = true;
	proc_accounts_move(&p->accounts, m, to);
	return 0;
}

int proc_source_remove(struct proc_source *p, const struct account_key *key, struct account *total)
{
	struct proc_account *a = proc_accounts_find(&p->accounts, key);

	if (!a || a == p->accounts.all)
		return -ENOENT;
	*total = a->total;
	account_add(&p->removed, total);
	proc_accounts_remove(&p->accounts, a);
	return 0;
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
	int nr = 0;

	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_member *m = p->members.all[i];

		if (m->gone_ns && !m->is_told)
			end_report(p, m);
		if (m->is_told)
			continue;
		record(context, &m->rec);
		nr++;
	}
	proc_members_done(&p->members, &p->budget);
	return nr;
}

void proc_source_bounds(const struct proc_source *p, const struct metric_set *usable,
			struct metric_set *bounds)
{
	proc_metrics_bounds(usable, p->misses_children || !p->command, p->misses_io, bounds);
}

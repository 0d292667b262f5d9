// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_source.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/capability.h"
#include "measure/proc_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns why a metric is unknown without BPF, or NULL. */
static const char *why_unusable(enum metric_id id)
{
	static const char needs_bpf[] = "needs BPF";
	static const enum metric_id known[] = {
		M_cpu,       M_user,   M_system, M_minflt, M_majflt, M_nvcsw, M_nivcsw,
		M_rchar,     M_wchar,  M_syscr,  M_syscw,  M_read,   M_write, M_cancelled_write,
		M_processes, M_threads
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i] == id)
			return NULL;
	if (!metric_source_get(metric_get(id)->source)->without_bpf)
		return needs_bpf;
	if (metric_get(id)->source == SOURCE_PROCFS && access("/proc/self/smaps_rollup", R_OK))
		return "not provided by the kernel: needs CONFIG_PROC_PAGE_MONITOR";
	return capability_why_no_hardware(metric_get(id)->source);
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

/* Sets the lower bounds among @usable: all counters if @are_all, and I/O of calls if @misses_io. */
static void proc_metrics_bounds(const struct metric_set *usable, bool are_all, bool misses_io,
				struct metric_set *bounds)
{
	static const enum metric_id unread[] = { M_rchar, M_wchar, M_syscr, M_syscw,
						 M_cancelled_write };

	for (int i = 0; are_all && i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) &&
		    (source == SOURCE_TASK || source == SOURCE_SPLIT))
			metric_put(bounds, (enum metric_id)i);
	}
	for (size_t i = 0; misses_io && i < sizeof(unread) / sizeof(*unread); i++)
		if (metric_has(usable, unread[i]))
			metric_put(bounds, unread[i]);
}

#define SEED_PASSES 8

struct proc_source *proc_source_new(pid_t launcher, bool wants_args, unsigned inject_misses)
{
	struct proc_source *p = memory_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->launcher = launcher;
	p->wants_args = wants_args;
	p->budget = proc_budget_of_process();
	proc_files_init(&p->of_launcher, launcher);
	proc_births_open(p, inject_misses);
	return p;
}

void proc_source_free(struct proc_source *p)
{
	if (!p)
		return;
	proc_members_done(&p->members, &p->budget);
	proc_files_done(&p->of_launcher, &p->budget.nr_open);
	proc_accounts_done(&p->accounts);
	proc_clock_done(&p->clock);
	proc_connector_close(&p->births.from);
	born_done(&p->births.live);
	free(p->births.pending);
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
	proc_births_begin(p, command);
	return err ? err : proc_source_drain(p, true, NULL, NULL);
}

/*
 * Returns true if one of @pids is an ancestor of @pid, from which the scan finds it in the right
 * order.
 */
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

/* Begins to count. Processes that were born before but are found later count from then on. */
static void source_begin(struct proc_source *p)
{
	struct proc_account *a = p->accounts.all;

	a->kept = (struct proc_used){ 0 };
	a->total = (struct account){ 0 };
	p->baseline_lacks_io = p->misses_io;
	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_member *m = p->members.all[i];
		struct proc_used children = proc_member_inherited(m);

		a->total.roots += !m->end_is_reported; /* else it is a zombie already */
		proc_state_seed(p, m);
		proc_used_add(&p->baseline, &m->base);
		children.io = (struct proc_io){ 0 };
		/* I/O of children and its own are one sum */
		p->baseline_lacks_io |= !proc_used_is_zero(&children);
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
	proc_births_begin(p, 0);
	for (size_t i = 0; i < nr; i++)
		if (!is_below_one(pids, nr, pids[i]))
			proc_state_look_at(p, pids[i], NULL, NULL);
	/* If a child ends during a scan, what its parent inherited is unknown: scan again. */
	for (int i = 0; !err && i < SEED_PASSES; i++) {
		p->accounts.all->total.exits = 0;
		err = proc_source_drain(p, true, NULL, NULL);
		for (size_t k = 0; k < nr; k++) /* if a scan missed it */
			proc_state_look_at(p, pids[k], NULL, NULL);
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
		seen.read_bytes = seen.write_bytes = 0; /* wait4() reports these */
		proc_io_add(&p->seen_by_now, &seen);
	}
	proc_member_note_reaped(m, r);
}

uint64_t proc_source_tree_peak(const struct proc_source *p, uint64_t *at_ns)
{
	*at_ns = p->peak_ns;
	return p->peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t proc_source_peak(const struct proc_source *p)
{
	return p->reaped_by_now.peak_bytes;
}

/* Sets the command's own account: the sum of all, less the other accounts. */
static void command_total(struct proc_source *p)
{
	const struct proc_used used = proc_state_used(p);
	struct proc_account *all = p->accounts.all;
	const struct account own = all->total;

	/* a process that ends between two reads of a scan is in neither; the next scan has it */
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

uint64_t proc_source_unsplit(struct proc_source *p)
{
	const uint64_t counted_ns = proc_clock_read(&p->clock);
	const uint64_t split_ns = p->run.user + p->run.system;

	return counted_ns > split_ns ? counted_ns - split_ns : 0;
}

int proc_source_move(struct proc_source *p, pid_t pid, const struct account_key *to)
{
	struct proc_member *m;
	int err = proc_source_drain(p, false, NULL, NULL);

	m = err ? NULL : proc_members_find(&p->members, pid);
	if (!m || m->end_is_reported)
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

	proc_births_end(p, record, context);
	for (size_t i = 0; i < p->members.nr; i++) {
		struct proc_member *m = p->members.all[i];

		if (m->gone_ns && !m->end_is_reported)
			proc_state_report_end(p, m);
		if (m->end_is_reported)
			continue;
		proc_state_complete(p, m);
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

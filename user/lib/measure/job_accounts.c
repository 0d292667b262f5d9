// SPDX-License-Identifier: BSD-2-Clause
/*
 * The accounts of a run: their sum, and how a run joins and leaves the books of a whole node, where
 * its processes are already counted.
 */
#include "base/memory.h"
#include "measure/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_PASSES 64

/* A live process according to its record. */
struct known_process {
	uint32_t pid, ppid;
	uint64_t start_boot_ns;
	struct account_key account;
	bool is_member;
};

struct census {
	struct known_process *all; /* owned */
	size_t nr, room;
	uint64_t forgone;
};

bool job_has(const struct job *job, const struct account_key *key)
{
	const struct job *owner = books_owner(job->view.books, key);

	while (owner && owner != job)
		owner = owner->above;
	return owner;
}

static int joiner_find(struct job *job, uint32_t pid, struct process_record *r)
{
	struct tracker *t = &job->view.books->tracker;
	int err = tracker_find(t, (pid_t)pid, r);

	if (err == -ESRCH && !tracker_adopt(t))
		err = tracker_find(t, (pid_t)pid, r);
	return err;
}

static void baseline_note(struct job *job, const struct process_record *r)
{
#define TASK_METRIC(base, ...) job->baseline.base += r->counters.base;
#include "bpfmon/metrics.def"
	job->baseline.user += r->user;
	job->baseline.system += r->system;
	job->baseline.threads += r->threads_total;
}

static int joiner_move(struct job *job, uint32_t pid, uint32_t flags)
{
	struct account_key to = { .tree = job->account.tree, .cgroup = 0 };
	struct process_record r;
	int err = joiner_find(job, pid, &r);

	if (err || r.account.tree == to.tree)
		return err;
	to.cgroup = r.account.cgroup;
	err = tracker_move_anew(&job->view.books->tracker, (pid_t)pid, &to, flags);
	if (err || !(flags & PROCESS_SEEDED))
		return err;
	baseline_note(job, &r);
	books_name_process(job->view.books, r.pid, r.serial);
	return 0;
}

static void process_note(void *context, const struct process_record *r)
{
	struct census *c = context;
	struct known_process *all = c->all;
	size_t room = c->room ? c->room * 2 : 1024;

	if (r->flags & PROCESS_ENDED || !r->pid)
		return;
	if (c->nr == c->room) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all) {
			c->forgone++;
			return;
		}
		c->all = all;
		c->room = room;
	}
	all[c->nr++] = (struct known_process){ .pid = r->pid,
					       .ppid = r->ppid,
					       .start_boot_ns = r->start_boot_ns,
					       .account = r->account };
}

static int known_process_compare(const void *a, const void *b)
{
	const struct known_process *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static struct known_process *known_process_find(const struct census *c, uint32_t pid)
{
	const struct known_process key = { .pid = pid };

	if (!c->nr)
		return NULL;
	return bsearch(&key, c->all, c->nr, sizeof(key), known_process_compare);
}

/* An older parent is the true one. A younger one has reused the PID. */
static bool known_process_is_member(const struct census *c, const struct known_process *t)
{
	const struct known_process *parent = t->is_member ? NULL : known_process_find(c, t->ppid);

	return parent && parent->is_member && parent->start_boot_ns <= t->start_boot_ns;
}

/*
 * Marks children of members; a pass may reach a child before its parent. Returns true if any was
 * new.
 */
static bool census_spread(struct census *c)
{
	bool has_grown = false;

	for (size_t i = 0; i < c->nr; i++) {
		bool is_new = known_process_is_member(c, &c->all[i]);

		c->all[i].is_member |= is_new;
		has_grown |= is_new;
	}
	return has_grown;
}

/* A run that began before keeps its processes, or it would become wrong. */
static bool known_process_is_free(struct job *job, const struct known_process *t)
{
	const struct job *owner = books_owner(job->view.books, &t->account);

	if (owner == job || owner == job->above)
		return true;
	job->view.tally.summary.complete = false;
	snprintf(job->view.tally.summary.reason, sizeof(job->view.tally.summary.reason),
		 "some descendants belong to other runs and count only there");
	return false;
}

/* Moves descendants that are not in the account yet. Returns how many threads were moved. */
static size_t descendants_move(struct job *job, const pid_t *targets, size_t nr)
{
	const uint32_t flags = PROCESS_ROOT | PROCESS_SEEDED;
	uint64_t before = job->baseline.threads;
	struct census c = { 0 };

	tracker_each_process(&job->view.books->tracker, process_note, &c);
	if (c.nr)
		qsort(c.all, c.nr, sizeof(*c.all), known_process_compare);
	for (size_t i = 0; i < nr; i++) {
		struct known_process *t = known_process_find(&c, (uint32_t)targets[i]);

		if (t)
			t->is_member = true;
	}
	while (census_spread(&c))
		;
	for (size_t i = 0; i < c.nr; i++)
		if (c.all[i].is_member && known_process_is_free(job, &c.all[i]))
			joiner_move(job, c.all[i].pid, flags);
	job->view.tally.forgone += c.forgone;
	free(c.all);
	return job->baseline.threads - before;
}

/* Targets must all be in the same enclosing run, because they are counted there, too. */
static int targets_check(struct job *job, char *why, size_t size)
{
	const struct job_spec *spec = job->spec;
	struct process_record r;

	for (size_t i = 1; i < spec->nr_targets; i++) {
		if (joiner_find(job, (uint32_t)spec->targets[i], &r) ||
		    books_owner(job->view.books, &r.account) == job->above)
			continue;
		snprintf(why, size,
			 "processes %d and %d already belong to different runs; attach to each "
			 "separately",
			 spec->targets[0], spec->targets[i]);
		return -EBUSY;
	}
	return 0;
}

static int targets_join(struct job *job, const pid_t *targets, size_t nr)
{
	int err = -ESRCH;

	for (size_t i = 0; i < nr; i++)
		if (!joiner_move(job, (uint32_t)targets[i], PROCESS_ROOT | PROCESS_SEEDED))
			err = 0;
	/* a child born before its parent was moved is found in the next pass */
	for (int i = 0; !err && i < JOIN_PASSES && descendants_move(job, targets, nr); i++)
		;
	return err;
}

int job_rejoin(struct job *job, const struct known_pid *pids, size_t nr)
{
	pid_t *alive = memory_calloc(nr + 1, sizeof(*alive));
	struct process_record r;
	size_t found = 0;
	int err;

	if (!alive)
		return -ENOMEM;
	job->account = (struct account_key){ .tree = books_new_tree(job->view.books) };
	for (size_t i = 0; i < nr; i++) {
		if (joiner_find(job, (uint32_t)pids[i].pid, &r) ||
		    r.start_boot_ns != pids[i].start_boot_ns)
			continue;
		if (!found) {
			job->account.cgroup = r.account.cgroup;
			job->heir = r.account.tree;
			job->above = books_owner(job->view.books, &r.account);
		}
		alive[found++] = pids[i].pid;
	}
	err = books_own(job->view.books, &job->account, job);
	if (!err && found)
		targets_join(job, alive, found); /* any may have ended since */
	free(alive);
	return err;
}

int job_join(struct job *job, char *why, size_t size)
{
	const struct job_spec *spec = job->spec;
	const pid_t first = spec->command ? spec->command : spec->targets[0];
	struct process_record r;
	int err = joiner_find(job, (uint32_t)first, &r);

	if (err)
		return err;
	job->account = (struct account_key){ books_new_tree(job->view.books), r.account.cgroup };
	job->heir = r.account.tree;
	job->above = books_owner(job->view.books, &r.account);
	err = targets_check(job, why, size);
	if (err) {
		job->account.tree = 0;
		return err;
	}
	err = books_own(job->view.books, &job->account, job);
	if (err)
		return err;
	if (!spec->command)
		return targets_join(job, spec->targets, spec->nr_targets);
	return joiner_move(job, (uint32_t)first, PROCESS_ROOT | PROCESS_LAUNCHED);
}

/* Runs that began in @job belong to its enclosing run from now on. */
static void inner_runs_reparent(struct job *job)
{
	const struct books *b = job->view.books;

	for (size_t i = 0; b->whole_node && i < b->nr_owners; i++) {
		struct job *inner = b->owners[i].owner;
		const struct account_key heir = { inner->heir, 0 };

		if (inner->above != job)
			continue;
		if (books_owner(b, &heir) == job)
			inner->heir = job->heir;
		inner->above = job->above;
	}
}

void job_leave_books(struct job *job)
{
	struct account_key key;
	struct account total;

	if (!job->account.tree)
		return;
	inner_runs_reparent(job);
	tracker_read_accounts(&job->view.books->tracker);
	/* its own, and those of its spans */
	while (books_find_owned(job->view.books, job, &key)) {
		if (!books_remove(job->view.books, &key, &total))
			account_add(&job->view.tally.removed, &total);
		books_disown(job->view.books, &key);
	}
	job->account.tree = 0;
	if (job->above) /* later usage of its processes is counted there */
		account_add(&job->above->view.tally.removed, &job->view.tally.removed);
}

struct account job_totals(struct job *job)
{
	const struct accounts *a = &job->view.books->tracker.accounts;
	struct account sum = job->view.tally.removed;

	tracker_read_accounts(&job->view.books->tracker);
	spans_forget_totals(&job->spans);
	for (size_t i = 0; i < a->nr; i++) {
		if (!job_has(job, &a->keys[i]))
			continue;
		account_add(&sum, &a->totals[i]);
		spans_total(&job->spans, &a->keys[i], &a->totals[i]);
	}
	account_make_consistent(&sum);
	sum.cpu += tracker_unsplit(&job->view.books->tracker);
	return sum;
}

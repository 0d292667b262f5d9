// SPDX-License-Identifier: BSD-2-Clause
/* Spans: begin, end in place, and accounting. */
#include "measure/spans.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "measure/tally_view.h"
#include "measure/tally.h"
#include "run/span.h"
#include "run/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPANS_BEFORE_DRAIN                                                                         \
	1024 /* above the number left by the last drain; a drain then may end some */

static int compare_tree(const void *key, const void *item)
{
	const uint64_t *tree = key;
	const struct live_span *const *s = item;

	return *tree < (*s)->account.tree ? -1 : *tree > (*s)->account.tree;
}

/* Returns the live span whose account has @tree, or NULL. */
static struct live_span *span_find(const struct spans *s, uint64_t tree)
{
	struct live_span **found = NULL;

	if (s->nr)
		found = bsearch(&tree, s->all, s->nr, sizeof(*s->all), compare_tree);
	return found ? *found : NULL;
}

static void live_span_free(struct live_span *s)
{
	if (!s)
		return;
	free(s->text);
	tally_done(&s->tally);
	free(s);
}

static void span_remove(struct spans *s, struct live_span *one)
{
	size_t i = 0;

	while (s->all[i] != one)
		i++;
	s->nr--;
	memmove(&s->all[i], &s->all[i + 1], (s->nr - i) * sizeof(*s->all));
	live_span_free(one);
}

void spans_init(struct spans *s, struct tally_view *v, void *owner)
{
	*s = (struct spans){ .view = v, .owner = owner };
}

void spans_done(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++)
		live_span_free(s->all[i]);
	free(s->all);
	*s = (struct spans){ 0 };
}

static bool spans_make_room(struct spans *s)
{
	size_t room = s->room ? s->room * 2 : 64;
	struct live_span **all;

	if (s->nr < s->room)
		return true;
	all = memory_reallocarray(s->all, room, sizeof(*all));
	if (!all)
		return false;
	s->all = all;
	s->room = room;
	return true;
}

/* Appends a span begun now by the process of @r. Returns NULL without memory. */
static struct live_span *span_append(struct spans *all, struct span_message *m,
				     const struct process_record *r, struct live_span *above)
{
	struct live_span *s = spans_make_room(all) ? memory_calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	tally_init(&s->tally, all->view->tally.usable);
	s->tally.summary.has_oom_kills = all->view->tally.summary.has_oom_kills;
	s->above = above;
	s->depth = above ? above->depth + 1 : 0;
	s->is_kept = m->in_place || all->view->run->is_from_proc;
	s->before = r->account;
	s->account = (struct account_key){ books_new_tree(all->view->books), r->account.cgroup };
	s->serial = r->serial;
	s->start_boot_ns = clock_ns(CLOCK_BOOTTIME);
	/* the last drain cannot have met what began after it */
	s->tally.bound.since_ns = s->tally.bound.before_ns = all->view->books->drain_boot_ns;
	s->id = ++all->last_id;
	s->parent = above ? above->id : 0;
	s->pid = (int32_t)r->pid;
	s->in_place = m->in_place;
	s->label = m->label;
	s->start_epoch_ns = s->start_boot_ns + all->view->epoch_less_boot_ns;
	s->text = m->text; /* taken over */
	m->text = NULL;
	all->all[all->nr++] = s;
	return s;
}

static int span_begin(struct spans *all, struct span_message *m, const struct process_record *r,
		      uint64_t *id, char *why, size_t size)
{
	struct live_span *above = span_find(all, r->account.tree), *s;
	int err;

	if (above && above->depth + 1 >= MAX_SPAN_DEPTH) {
		snprintf(why, size, "spans are already nested %d levels deep", MAX_SPAN_DEPTH);
		return -ELOOP;
	}
	s = span_append(all, m, r, above);
	err = s ? books_own(all->view->books, &s->account, all->owner) : -ENOMEM;
	if (!err)
		err = tracker_move(&all->view->books->tracker, (pid_t)r->pid, &s->account);
	if (!err) {
		if (above)
			above->nr_within++;
		*id = s->id;
		return 0;
	}
	if (s) {
		books_disown(all->view->books, &s->account);
		span_remove(all, s);
	}
	snprintf(why, size, err == -ENOSPC ? "too many spans at once" : "%s", strerror(-err));
	return err;
}

/*
 * Returns the innermost span called @name that the process @serial has begun and not ended, or
 * NULL.
 */
static struct live_span *span_find_begun(struct live_span *s, uint64_t serial, const char *name)
{
	while (s && (s->serial != serial || s->has_ended || !s->is_kept ||
		     strcmp(s->label.name, name) != 0))
		s = s->above;
	return s;
}

static void span_note_wait_status(struct live_span *s, int status)
{
	s->tally.summary.has_status = true;
	if (WIFSIGNALED(status))
		s->tally.summary.signal = WTERMSIG(status);
	else
		s->tally.summary.exit_code = WEXITSTATUS(status);
}

static int span_end(struct spans *all, const struct span_message *m, const struct process_record *r,
		    uint64_t *id, char *why, size_t size)
{
	struct live_span *inner = span_find(all, r->account.tree);
	struct live_span *s = span_find_begun(inner, r->serial, m->label.name);
	struct account_key to;
	int err;

	if (!s) {
		snprintf(why, size, "this process has not begun span '%s'", m->label.name);
		return -ENOENT;
	}
	if (s != inner) {
		snprintf(why, size, "'%s', begun within '%s', has not ended", inner->label.name,
			 s->label.name);
		return -EBUSY;
	}
	to = (struct account_key){ s->before.tree, r->account.cgroup };
	err = tracker_move(&all->view->books->tracker, (pid_t)r->pid, &to);
	if (err) {
		snprintf(why, size, "%s", strerror(-err));
		return err;
	}
	if (m->has_status)
		span_note_wait_status(s, m->status);
	s->has_ended = true;
	s->left_serial = r->serial;
	s->end_boot_ns = clock_ns(CLOCK_BOOTTIME);
	*id = s->id;
	return 0;
}

/* Reads the record of a process of this job. Looks for it if its birth was missed. */
static int process_of_job(struct spans *all, pid_t pid, struct process_record *r)
{
	struct tracker *t = &all->view->books->tracker;
	int err = tracker_find(t, pid, r);

	if (err == -ESRCH && !tracker_adopt(t))
		err = tracker_find(t, pid, r);
	if (!err &&
	    (books_owner(all->view->books, &r->account) != all->owner || r->flags & PROCESS_ENDED))
		err = -ESRCH;
	return err;
}

static int refusal_explain_errno(int err, char *why, size_t size)
{
	if (err)
		snprintf(why, size, err == -ESRCH ? "the process is not part of this run" : "%s",
			 strerror(-err));
	return err;
}

/* Reads the record of the process that has made the connection. */
static int sender_of_job(struct spans *all, const struct peer_process *sender,
			 struct process_record *r)
{
	int err = process_of_job(all, sender->pid, r);

	if (!err && !peer_process_matches(sender, r->start_boot_ns, r->uid, all->view->run->uid))
		err = -ESRCH;
	return err;
}

int sender_check(struct spans *all, const struct peer_process *sender, char *why, size_t size)
{
	struct process_record r;

	return refusal_explain_errno(sender_of_job(all, sender, &r), why, size);
}

/*
 * Finds the process that a request is for: the sender, or its parent, because a shell runs `bpfmon
 * span` as a child.
 */
static int request_find_process(struct spans *all, const struct span_message *m,
				const struct peer_process *sender, struct process_record *r,
				char *why, size_t size)
{
	int err = sender_of_job(all, sender, r);
	const uint64_t born_ns = err ? 0 : r->start_boot_ns;

	if (!err && m->pid && m->pid != sender->pid) {
		if ((pid_t)r->ppid != m->pid) {
			snprintf(why, size, "process %d is not the parent of the caller", m->pid);
			return -EPERM;
		}
		err = process_of_job(all, m->pid, r);
		if (!err && r->start_boot_ns > born_ns) /* the PID was reused */
			err = -ESRCH;
	}
	return refusal_explain_errno(err, why, size);
}

int span_handle_request(struct spans *all, struct span_message *m,
			const struct peer_process *sender, uint64_t *id, char *why, size_t size)
{
	struct process_record r;
	int err = request_find_process(all, m, sender, &r, why, size);

	if (err)
		return err;
	if (m->is_end)
		return span_end(all, m, &r, id, why, size);
	if (all->nr >= all->nr_left + SPANS_BEFORE_DRAIN)
		books_drain(all->view->books, false);
	return span_begin(all, m, &r, id, why, size);
}

/*
 * Only here are spans nested: what a span used is added to the enclosing one when it ends. The
 * totals of the run are the sum of all accounts, so that no time is counted twice or is missing. A
 * span is over when no process is left in its account and as many records have come as processes
 * were in it; its line is written after the next drain, and its account is removed. A lost record
 * of its processes, or an entry without room, makes that span incomplete.
 */

void spans_forget_totals(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++)
		memset(&s->all[i]->tally.totals, 0, sizeof(s->all[i]->tally.totals));
}

void spans_drain_begin(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++)
		tally_drain_begin(&s->all[i]->tally);
}

void spans_total(struct spans *s, const struct account_key *key, const struct account *total)
{
	struct live_span *one = span_find(s, key->tree);

	if (!one)
		return;
	account_add(&one->tally.totals, total);
	account_make_consistent(&one->tally.totals);
}

void spans_slice(struct spans *all, const struct slice *slice)
{
	struct live_span *s = span_find(all, slice->account.tree);

	for (; s; s = s->above)
		tally_slice(&s->tally, slice);
}

void spans_drain_end(struct spans *all, uint64_t elapsed_ns)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct tally *t = &all->all[i]->tally;
		struct sample smp = { .elapsed_ns = elapsed_ns };

		tally_drain_end(t, &all->view->books->gpus);
		tally_put_memory(t, &smp);
		gpu_tally_put(&t->gpu, &all->view->books->gpus, t->usable, 0, false, &smp);
		if (t->rows.nr)
			summary_add_sample(&t->summary, &smp);
		all->view->tally.forgone += t->forgone;
		t->forgone = 0;
	}
}

/* A span comes after its enclosing one in the list. */
void spans_add_up(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		s->all[i]->now = s->all[i]->tally.totals;
		account_add(&s->all[i]->now, &s->all[i]->tally.removed);
	}
	for (size_t i = s->nr; i-- > 0;)
		if (s->all[i]->above)
			account_add(&s->all[i]->above->now, &s->all[i]->now);
}

void span_take_sample(const struct spans *all, const struct live_span *s, struct sample *smp)
{
	tally_put_totals(&s->tally, smp, &s->now);
	tally_put_memory(&s->tally, smp);
	gpu_tally_put(&s->tally.gpu, &all->view->books->gpus, s->tally.usable, 0, false, smp);
}

void spans_put_sample(struct spans *all, struct sample *smp)
{
	spans_add_up(all);
	for (size_t i = 0; i < all->nr; i++) {
		const struct live_span *s = all->all[i];
		struct sample of_span = { 0 };
		struct instance *at;
		char number[32];

		snprintf(number, sizeof(number), "%" PRIu64, s->id);
		at = sample_add_instance(smp, SPAN_DIMENSION, number);
		if (!at) {
			all->view->tally.forgone++;
			continue;
		}
		span_take_sample(all, s, &of_span);
		memcpy(at->value, of_span.value, sizeof(at->value));
		at->have = of_span.have;
	}
}

/*
 * A process that has left the span still counts in this interval; its high-water mark is the bound.
 */
static void span_bound_interval(struct spans *all, struct live_span *s)
{
	const struct drain_row *left = NULL;
	struct slice slice = { .rows = &left, .nr = 1 };

	if (s->left_serial)
		left = rows_find(&all->view->books->rows, s->left_serial);
	if (left && row_list_add(&s->tally.rows, &slice))
		s->tally.bound.is_unknown = true;
	s->left_serial = 0;
	tally_end_interval(&s->tally, &all->view->books->rows, all->view->books->drain_boot_ns);
}

void spans_bound_interval(struct spans *all)
{
	for (size_t i = 0; i < all->nr; i++)
		span_bound_interval(all, all->all[i]);
}

static void span_note_status(struct live_span *s, const struct process *p)
{
	if (!p->has_ended)
		return;
	s->tally.summary.has_status = true;
	s->tally.summary.exit_code = p->exit_code;
	s->tally.summary.signal = p->signal;
}

void spans_process(struct spans *all, const struct process_record *r, struct process *p,
		   bool is_left)
{
	struct live_span *s = span_find(all, r->account.tree);

	if (!s)
		return;
	p->span = s->id;
	s->nr_records++;
	for (; s; s = s->above) {
		tally_record(&s->tally, r, is_left);
		tally_take_account(&s->tally, &all->view->books->gpus, r->serial);
		if (r->end_boot_ns > s->end_boot_ns)
			s->end_boot_ns = r->end_boot_ns;
		if (r->serial == s->serial && !s->in_place)
			span_note_status(s, p);
		if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
			s->tally.summary.outlived++;
		summary_add_process_peak(&s->tally.summary, p);
	}
}

void spans_oom(struct spans *all, const struct account_key *key, const struct oom_kill *k)
{
	for (struct live_span *s = span_find(all, key->tree); s; s = s->above)
		summary_add_oom(&s->tally.summary, k);
}

/* Returns true if no process is left and each has its record, so that its account is final. */
static bool span_is_over(const struct live_span *s)
{
	const struct account *a = &s->tally.totals;
	uint64_t ended = a->forks + a->roots + a->moved_in - a->moved_out;

	return !s->nr_within && !a->processes && ended <= s->nr_records + a->loss[LOSS_RECORDS];
}

/* Sets the totals in the summary: all that the span and those within used. */
static void span_set_totals(struct spans *all, struct live_span *s, const struct account *total)
{
	struct summary *used = &s->tally.summary;

	tally_put_totals(&s->tally, &used->total, total);
	gpu_tally_put(&s->tally.gpu, &all->view->books->gpus, s->tally.usable, 0, false,
		      &used->total);
	used->blkio_wrong = total->blkio_wrong > 0;
	used->processes_total = total->forks + total->roots + 1; /* plus the one that began it */
	for (int i = 0; i < NR_LOSSES; i++)
		summary_add_loss(used, loss_name(i), total->loss[i]);
}

static void span_set_times(struct spans *all, struct live_span *s, bool is_over)
{
	uint64_t end_boot_ns =
		is_over && s->end_boot_ns ? s->end_boot_ns : all->view->books->drain_boot_ns;

	s->tally.summary.wall_ns =
		end_boot_ns > s->start_boot_ns ? end_boot_ns - s->start_boot_ns : 0;
	s->end_epoch_ns = is_over ? end_boot_ns + all->view->epoch_less_boot_ns : 0;
}

static void span_write(struct jsonw *j, const struct live_span *s)
{
	const struct span line = {
		.id = s->id,
		.parent = s->parent,
		.pid = s->pid,
		.in_place = s->in_place,
		.label = s->label,
		.start_epoch_ns = s->start_epoch_ns,
		.end_epoch_ns = s->end_epoch_ns,
		.used = s->tally.summary, /* not owned */
	};

	write_span(j, &line);
}

/* Writes the line, adds the usage to the enclosing span, and frees the span. */
static void span_finish(struct spans *all, struct live_span *s, bool is_over)
{
	struct account total = s->tally.totals;

	account_make_consistent(&total);
	account_add(&total, &s->tally.removed);
	span_set_totals(all, s, &total);
	span_set_times(all, s, is_over);
	if (!all->view->run->is_from_proc) /* without BPF, some processes have no record */
		memory_bound_report(&s->tally.bound, metric_has(&all->view->run->usable, M_rss),
				    &s->tally.summary);
	summary_finish(&s->tally.summary);
	span_write(&all->view->json, s);
	feeds_put(&all->view->feeds, &all->view->json);
	if (s->above) {
		account_add(&s->above->tally.removed, &total);
		s->above->nr_within--;
	}
	span_remove(all, s);
}

/* Writes the spans that are over, in order of their begin. Returns false if there was none. */
static bool spans_write_innermost(struct spans *all)
{
	size_t nr = all->nr;

	for (size_t i = 0; i < all->nr;) {
		struct live_span *s = all->all[i];

		if (!span_is_over(s)) {
			i++;
			continue;
		}
		if (!books_remove(all->view->books, &s->account, &s->tally.totals))
			account_add(&all->view->tally.removed, &s->tally.totals);
		books_disown(all->view->books, &s->account);
		span_finish(all, s, true);
	}
	return all->nr < nr;
}

void spans_write_ended(struct spans *all)
{
	while (spans_write_innermost(all)) /* enclosing spans may be over then */
		;
	all->nr_left = all->nr;
}

bool spans_write_left(struct spans *all)
{
	struct live_span *s;
	size_t i = 0;

	if (!all->nr)
		return false;
	while (all->all[i]->nr_within)
		i++;
	s = all->all[i];
	span_finish(all, s, !s->tally.summary.outlived && (s->end_boot_ns || s->has_ended));
	return true;
}

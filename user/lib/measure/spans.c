// SPDX-License-Identifier: BSD-2-Clause
/* How spans begin, and how they are ended in place. */
#include "measure/spans.h"

#include "base/clock.h"
#include "base/fd.h"
#include "measure/job.h"
#include "measure/job_memory.h"
#include "run/span.h"
#include "run/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPANS_BEFORE_DRAIN 1024 /* more than the last drain has left: it may end some of them */

static int compare_tree(const void *key, const void *item)
{
	const uint64_t *tree = key;
	const struct live_span *const *s = item;

	return *tree < (*s)->account.tree ? -1 : *tree > (*s)->account.tree;
}

/* The live span whose account has that @tree, or NULL. */
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
	row_list_done(&s->rows);
	memory_bound_done(&s->bound);
	summary_done(&s->span.used);
	free(s);
}

/* Takes it out of the list, and frees it. */
static void span_remove(struct spans *s, struct live_span *one)
{
	size_t i = 0;

	while (s->all[i] != one)
		i++;
	s->nr--;
	memmove(&s->all[i], &s->all[i + 1], (s->nr - i) * sizeof(*s->all));
	live_span_free(one);
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
	all = reallocarray(s->all, room, sizeof(*all));
	if (!all)
		return false;
	s->all = all;
	s->room = room;
	return true;
}

/* A new one at the end of the list, begun now by the process of @r. NULL without memory. */
static struct live_span *span_append(struct job *job, struct span_message *m,
				     const struct process_record *r, struct live_span *above)
{
	struct live_span *s = spans_make_room(&job->spans) ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	s->above = above;
	s->depth = above ? above->depth + 1 : 0;
	s->is_kept = m->in_place || job->run->is_from_proc;
	s->before = r->account;
	s->account = (struct account_key){ books_new_tree(job->books), r->account.cgroup };
	s->serial = r->serial;
	s->start_boot_ns = clock_ns(CLOCK_BOOTTIME);
	/* what began since the last drain cannot have been met by it */
	s->bound.since_ns = s->bound.before_ns = job->books->drain_boot_ns;
	s->span = (struct span){
		.id = ++job->spans.last_id,
		.parent = above ? above->span.id : 0,
		.pid = (int32_t)r->pid,
		.in_place = m->in_place,
		.label = m->label,
		.start_epoch_ns = s->start_boot_ns + job->epoch_less_boot_ns,
		.used = { .complete = true, .has_oom_kills = job->summary.has_oom_kills },
	};
	s->text = m->text; /* taken over */
	m->text = NULL;
	job->spans.all[job->spans.nr++] = s;
	return s;
}

static int span_begin(struct job *job, struct span_message *m, const struct process_record *r,
		      uint64_t *id, char *why, size_t size)
{
	struct live_span *above = span_find(&job->spans, r->account.tree), *s;
	int err;

	if (above && above->depth + 1 >= MAX_SPAN_DEPTH) {
		snprintf(why, size, "spans are nested %d deep already", MAX_SPAN_DEPTH);
		return -ELOOP;
	}
	s = span_append(job, m, r, above);
	err = s ? books_own(job->books, &s->account, job) : -ENOMEM;
	if (!err)
		err = tracker_move(&job->books->tracker, (pid_t)r->pid, &s->account);
	if (!err) {
		if (above)
			above->nr_within++;
		*id = s->span.id;
		return 0;
	}
	if (s) {
		books_disown(job->books, &s->account);
		span_remove(&job->spans, s);
	}
	snprintf(why, size, err == -ENOSPC ? "there are too many spans at once" : "%s",
		 strerror(-err));
	return err;
}

/* The span called @name that the process @serial is to end, from its innermost one upwards. */
static struct live_span *span_find_begun(struct live_span *s, uint64_t serial, const char *name)
{
	while (s && (s->serial != serial || s->has_ended || !s->is_kept ||
		     strcmp(s->span.label.name, name) != 0))
		s = s->above;
	return s;
}

static void span_note_wait_status(struct live_span *s, int status)
{
	s->span.used.has_status = true;
	if (WIFSIGNALED(status))
		s->span.used.signal = WTERMSIG(status);
	else
		s->span.used.exit_code = WEXITSTATUS(status);
}

static int span_end(struct job *job, const struct span_message *m, const struct process_record *r,
		    uint64_t *id, char *why, size_t size)
{
	struct live_span *inner = span_find(&job->spans, r->account.tree);
	struct live_span *s = span_find_begun(inner, r->serial, m->label.name);
	struct account_key to;
	int err;

	if (!s) {
		snprintf(why, size, "this process is in no span '%s' that it has begun in place",
			 m->label.name);
		return -ENOENT;
	}
	if (s != inner) {
		snprintf(why, size, "'%s' began within '%s' and has not ended",
			 inner->span.label.name, s->span.label.name);
		return -EBUSY;
	}
	to = (struct account_key){ s->before.tree, r->account.cgroup };
	err = tracker_move(&job->books->tracker, (pid_t)r->pid, &to);
	if (err) {
		snprintf(why, size, "%s", strerror(-err));
		return err;
	}
	if (m->has_status)
		span_note_wait_status(s, m->status);
	s->has_ended = true;
	s->left_serial = r->serial;
	s->end_boot_ns = clock_ns(CLOCK_BOOTTIME);
	*id = s->span.id;
	return 0;
}

/* Reads the record of a process of this job; one whose birth was missed is looked for. */
static int process_of_job(struct job *job, pid_t pid, struct process_record *r)
{
	struct tracker *t = &job->books->tracker;
	int err = tracker_find(t, pid, r);

	if (err == -ESRCH && !tracker_adopt(t))
		err = tracker_find(t, pid, r);
	if (!err && (books_owner(job->books, &r->account) != job || r->flags & PROCESS_ENDED))
		err = -ESRCH;
	return err;
}

static int process_refuse(int err, char *why, size_t size)
{
	if (err)
		snprintf(why, size, err == -ESRCH ? "the process is not part of this run" : "%s",
			 strerror(-err));
	return err;
}

/* That of the process which has made the connection. */
static int sender_of_job(struct job *job, const struct peer_process *sender,
			 struct process_record *r)
{
	int err = process_of_job(job, sender->pid, r);

	if (!err && !peer_process_may_be(sender, r->start_boot_ns, r->uid, job->run->uid))
		err = -ESRCH;
	return err;
}

int sender_check(struct job *job, const struct peer_process *sender, char *why, size_t size)
{
	struct process_record r;

	return process_refuse(sender_of_job(job, sender, &r), why, size);
}

/* A process may ask for itself, or for the one that started it, as a shell does. */
static int process_asked_for(struct job *job, const struct span_message *m,
			     const struct peer_process *sender, struct process_record *r, char *why,
			     size_t size)
{
	int err = sender_of_job(job, sender, r);
	const uint64_t born_ns = err ? 0 : r->start_boot_ns;

	if (!err && m->pid && m->pid != sender->pid) {
		if ((pid_t)r->ppid != m->pid) {
			snprintf(why, size, "process %d did not start the one that asks", m->pid);
			return -EPERM;
		}
		err = process_of_job(job, m->pid, r);
		if (!err && r->start_boot_ns > born_ns) /* another one has that PID by now */
			err = -ESRCH;
	}
	return process_refuse(err, why, size);
}

int span_obey(struct job *job, struct span_message *m, const struct peer_process *sender,
	      uint64_t *id, char *why, size_t size)
{
	struct process_record r;
	int err = process_asked_for(job, m, sender, &r, why, size);

	if (err)
		return err;
	if (m->is_end)
		return span_end(job, m, &r, id, why, size);
	if (job->spans.nr >= job->spans.nr_left + SPANS_BEFORE_DRAIN)
		books_drain(job->books, false);
	return span_begin(job, m, &r, id, why, size);
}

/* What spans use: totals, memory and records, until their lines are written. */

void spans_forget_totals(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++)
		memset(&s->all[i]->own, 0, sizeof(s->all[i]->own));
}

void spans_drain_begin(struct spans *s)
{
	spans_forget_totals(s);
	for (size_t i = 0; i < s->nr; i++) {
		memory_bound_drain(&s->all[i]->bound);
		row_list_clear(&s->all[i]->rows);
	}
}

void spans_total(struct spans *s, const struct account_key *key, const struct account *total)
{
	struct live_span *one = span_find(s, key->tree);

	if (!one)
		return;
	account_add(&one->own, total);
	account_untear(&one->own);
}

void spans_slice(struct job *job, const struct slice *slice)
{
	struct live_span *s = span_find(&job->spans, slice->account.tree);

	for (; s; s = s->above)
		if (row_list_add(&s->rows, slice))
			job->forgone += slice->nr;
}

void spans_drain_end(struct job *job)
{
	const uint64_t began_ns = job->books->tracker.began_ns;

	for (size_t i = 0; i < job->spans.nr; i++) {
		struct live_span *s = job->spans.all[i];
		struct sample smp = { .elapsed_ns = began_ns - job->start_ns };

		row_list_sort(&s->rows);
		memory_sum(s->rows.all, s->rows.nr, &job->run->usable, &smp);
		if (s->rows.nr)
			summary_add_sample(&s->span.used, &smp);
	}
}

/* A span is later in the list than the one that it began in. */
void spans_add_up(struct spans *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		s->all[i]->now = s->all[i]->own;
		account_add(&s->all[i]->now, &s->all[i]->ended);
	}
	for (size_t i = s->nr; i-- > 0;)
		if (s->all[i]->above)
			account_add(&s->all[i]->above->now, &s->all[i]->now);
}

void span_take_sample(const struct job *job, const struct live_span *s, struct sample *smp)
{
	job_put_totals(job, smp, &s->now);
	memory_sum(s->rows.all, s->rows.nr, &job->run->usable, smp);
}

void spans_put_sample(struct job *job, struct sample *smp)
{
	spans_add_up(&job->spans);
	for (size_t i = 0; i < job->spans.nr; i++) {
		const struct live_span *s = job->spans.all[i];
		struct sample of_span = { 0 };
		struct instance *at;
		char number[32];

		snprintf(number, sizeof(number), "%" PRIu64, s->span.id);
		at = sample_add_instance(smp, SPAN_DIMENSION, number);
		if (!at) {
			job->forgone++;
			continue;
		}
		span_take_sample(job, s, &of_span);
		memcpy(at->value, of_span.value, sizeof(at->value));
		at->have = of_span.have;
	}
}

/* A process that has left a span was in it until then: what it has ever held bounds that. */
static void span_bound_interval(struct job *job, struct live_span *s)
{
	const struct drain_row *left = NULL;
	struct slice slice = { .rows = &left, .nr = 1 };

	if (s->left_serial)
		left = rows_find(&job->books->rows, s->left_serial);
	if (left && row_list_add(&s->rows, &slice))
		s->bound.is_unknown = true;
	s->left_serial = 0;
	memory_bound_interval(&s->bound, s->rows.all, s->rows.nr, &job->books->rows,
			      job->books->drain_boot_ns);
}

void spans_bound_interval(struct job *job)
{
	for (size_t i = 0; i < job->spans.nr; i++)
		span_bound_interval(job, job->spans.all[i]);
}

static void span_note_status(struct live_span *s, const struct process *p)
{
	if (!p->has_ended)
		return;
	s->span.used.has_status = true;
	s->span.used.exit_code = p->exit_code;
	s->span.used.signal = p->signal;
}

void spans_process(struct job *job, const struct process_record *r, struct process *p, bool is_left)
{
	struct live_span *s = span_find(&job->spans, r->account.tree);

	if (!s)
		return;
	p->span = s->span.id;
	s->nr_records++;
	for (; s; s = s->above) {
		if (!is_left)
			memory_bound_ended(&s->bound, r);
		if (r->end_boot_ns > s->end_boot_ns)
			s->end_boot_ns = r->end_boot_ns;
		if (r->serial == s->serial && !s->span.in_place)
			span_note_status(s, p);
		if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
			s->span.used.outlived++;
		summary_add_process_peak(&s->span.used, p);
	}
}

void spans_oom(struct job *job, const struct account_key *key, const struct oom_kill *k)
{
	for (struct live_span *s = span_find(&job->spans, key->tree); s; s = s->above)
		summary_add_oom(&s->span.used, k);
}

/* True if no process of it is left, and each has its record, so that its account is final. */
static bool span_is_over(const struct live_span *s)
{
	const struct account *a = &s->own;
	uint64_t ended = a->forks + a->roots + a->moved_in - a->moved_out;

	return !s->nr_within && !a->processes && ended <= s->nr_records + a->loss[LOSS_RECORDS];
}

/* Counters and losses of @total: all that it and the spans in it used. */
static void span_set_totals(struct job *job, struct live_span *s, const struct account *total)
{
	struct summary *used = &s->span.used;

	job_put_totals(job, &used->total, total);
	used->blkio_wrong = total->blkio_wrong > 0;
	used->processes_total = total->forks + total->roots + 1; /* the one that began it */
	for (int i = 0; i < NR_LOSSES; i++)
		summary_add_loss(used, job_loss_name(i), total->loss[i]);
}

static void span_set_times(struct job *job, struct live_span *s, bool is_over)
{
	uint64_t end_boot_ns =
		is_over && s->end_boot_ns ? s->end_boot_ns : job->books->drain_boot_ns;

	s->span.used.wall_ns = end_boot_ns > s->start_boot_ns ? end_boot_ns - s->start_boot_ns : 0;
	s->span.end_epoch_ns = is_over ? end_boot_ns + job->epoch_less_boot_ns : 0;
}

/* Writes its line, adds what it used to the span above it, and frees it. */
static void span_finish(struct job *job, struct live_span *s, bool is_over)
{
	struct account total = s->own;

	account_untear(&total);
	account_add(&total, &s->ended);
	span_set_totals(job, s, &total);
	span_set_times(job, s, is_over);
	memory_bound_report(&s->bound, metric_has(&job->run->usable, M_rss), &s->span.used);
	summary_finish(&s->span.used);
	write_span(&job->json, &s->span);
	feeds_put(&job->feeds, &job->json);
	if (s->above) {
		account_add(&s->above->ended, &total);
		s->above->nr_within--;
	}
	span_remove(&job->spans, s);
}

/* In the order in which they began. False: there was none. */
static bool spans_write_innermost(struct job *job)
{
	size_t nr = job->spans.nr;

	for (size_t i = 0; i < job->spans.nr;) {
		struct live_span *s = job->spans.all[i];

		if (!span_is_over(s)) {
			i++;
			continue;
		}
		if (!books_remove(job->books, &s->account, &s->own))
			account_add(&job->removed, &s->own);
		books_disown(job->books, &s->account);
		span_finish(job, s, true);
	}
	return job->spans.nr < nr;
}

void spans_write_ended(struct job *job)
{
	while (spans_write_innermost(job)) /* then a span that they were in may be over */
		;
	job->spans.nr_left = job->spans.nr;
}

bool spans_write_left(struct job *job)
{
	struct live_span *s;
	size_t i = 0;

	if (!job->spans.nr)
		return false;
	while (job->spans.all[i]->nr_within)
		i++;
	s = job->spans.all[i];
	span_finish(job, s, !s->span.used.outlived && (s->end_boot_ns || s->has_ended));
	return true;
}

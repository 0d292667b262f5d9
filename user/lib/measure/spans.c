// SPDX-License-Identifier: BSD-2-Clause
/* How spans begin, and how they are ended in place. */
#include "measure/spans.h"

#include "base/clock.h"
#include "base/peer_process.h"
#include "measure/job.h"
#include "run/span_message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SPANS_BEFORE_DRAIN 1024 /* more than the last drain has left: it may end some of them */

static int compare_tree(const void *key, const void *item)
{
	const uint64_t *tree = key;
	const struct live_span *const *s = item;

	return *tree < (*s)->account.tree ? -1 : *tree > (*s)->account.tree;
}

struct live_span *span_find(const struct spans *s, uint64_t tree)
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

void span_remove(struct spans *s, struct live_span *one)
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

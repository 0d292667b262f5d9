// SPDX-License-Identifier: BSD-2-Clause
/* What spans use: totals, memory and records, until their lines are written. */
#include "base/clock.h"
#include "measure/job.h"
#include "measure/job_memory.h"
#include "measure/spans.h"
#include "run/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

// SPDX-License-Identifier: BSD-2-Clause
#include "measure/job.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/span_call.h"
#include "measure/net_peers.h"
#include "measure/record.h"
#include "measure/tally.h"
#include "run/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static void job_read_peers(struct job *job, struct sample *smp)
{
	const struct metric_set *usable = &job->view.run->usable;

	if (job->spec->net_peers && !job->view.books->whole_node &&
	    peers_put_instances(&job->view.books->tracker, usable, job->spec->net_peers, smp) ==
		    -ENOMEM)
		job->view.tally.forgone++;
	socket_states_put(job->sockets, usable, smp);
}

/* Reads what only a run has, in addition to its view. */
static void job_read_files(struct job *job, struct sample *smp)
{
	const struct metric_set *usable = &job->view.run->usable;

	if (job->spec->tracker.cgroup)
		target_look(job);
	cgroup_stat_read(&job->cgroup, usable, smp);
	job_read_peers(job, smp);
	pressure_read(&job->host_pressure, usable, M_host_memory_pressure_some,
		      M_host_memory_pressure_full, smp);
}

void job_drain_begin(struct job *job)
{
	job_release_held(job); /* the rows that it refers to are discarded now */
	tally_drain_begin(&job->view.tally);
	job->nr_unread = 0;
	memset(job->sockets, 0, sizeof(job->sockets));
	spans_drain_begin(&job->spans);
}

static void job_total(struct job *job, const struct account_key *key, const struct account *total)
{
	tally_total(&job->view.tally, total);
	spans_total(&job->spans, key, total);
}

static void job_slice(struct job *job, const struct slice *slice)
{
	tally_slice(&job->view.tally, slice);
	spans_slice(&job->spans, slice);
}

static void job_socket(struct job *job, const struct socket_row *row)
{
	if (row->state < NR_TCP_STATES)
		job->sockets[row->state]++;
}

static void job_unread(struct job *job)
{
	job->nr_unread++;
}

void job_drain_end(struct job *job)
{
	struct books *b = job->view.books;

	tally_view_drain_end(&job->view);
	spans_drain_end(&job->spans, b->tracker.began_ns - job->view.start_ns);
	/* At the end, what ends before the accounts are closed belongs to this interval. */
	if (job->state == JOB_LEAVES)
		return;
	job_bound_interval(job);
	spans_write_ended(&job->spans);
}

void job_bound_interval(struct job *job)
{
	const struct books *b = job->view.books;

	tally_end_interval(&job->view.tally, &b->rows, b->drain_boot_ns);
	spans_bound_interval(&job->spans);
}

void job_publish(struct job *job)
{
	const uint64_t began_ns = job->view.books->tracker.began_ns;
	struct sample *smp = &job->view.smp;

	job_read_block_io(job);
	tally_view_make_sample(&job->view, began_ns);
	job->view.tally.summary.entered -= job->seeded_roots;
	job_read_files(job, smp);
	if (job->state != JOB_LEAVES)
		job_look_waits(job);
	job_put_waits(job, smp);
	if (job->spec->tracker.cgroup)
		target_compare(job, smp, began_ns);
	books_consume(job->view.books);
	job->unread += job->nr_unread;
	heaviest_write(&job->heaviest, &job->view, job->spec->process_samples, &job->held.heaviest);
	if (job->spec->span_samples)
		spans_put_sample(&job->spans, smp);
	needed_watch_sample(job);
	job_hold_sample(job);
	tally_view_note_stall(&job->view, smp->elapsed_ns);
	job_was_sampled(job);
}

bool job_has_sample(const struct job *job)
{
	return job->view.smp.elapsed_ns == job->view.books->tracker.began_ns - job->view.start_ns;
}

void job_sample(struct job *job)
{
	books_drain(job->view.books, false);
	job_publish(job);
	feeds_flush(&job->view.feeds);
}

void job_take_pss(struct job *job)
{
	struct held_sample *held = &job->held;

	if (!job_take_reading(job))
		return;
	needed_watch_take(job);
	if (job->view.is_held && held->wants_list) {
		held->wants_list = false;
		if (job_begin_reading(job))
			return;
	}
	job_release_held(job);
	feeds_flush(&job->view.feeds);
}

#define LINE_NS (NSEC_PER_SEC / PUSHED_PER_SECOND)
#define LINES_NS (LINE_NS * PUSHED_BURST)
#define BYTE_NS (NSEC_PER_SEC / PUSHED_BYTES_PER_SECOND)
#define BYTES_NS (BYTE_NS * PUSHED_BYTES_BURST)
#define SAMPLE_NS (NSEC_PER_SEC / 20) /* average time between samples for marks */
#define SAMPLES_NS NSEC_PER_SEC
#define SAMPLE_SHARE 20          /* these take at most 1/20 of the time */
#define PATIENCE_NS NSEC_PER_SEC /* then a sender that two samples did not show is refused */
#define LOOK_AGAIN_MS 10

static uint64_t elapsed_of(const struct job *job, const struct datagram *l)
{
	return l->sent_ns > job->view.start_ns ? l->sent_ns - job->view.start_ns : 0;
}

/*
 * Offers the written line to the feeds and counts it in @taken or as dropped. Bytes are limited by
 * a rate, and by the room that the run's own lines need in the queues.
 */
static void pushed_line_put(struct job *job, struct allowance *a, uint64_t now_ns, uint64_t *taken)
{
	struct jsonw *j = &job->view.json;

	if (rate_take(&a->bytes, now_ns, BYTE_NS * j->used, BYTES_NS) &&
	    feeds_offer(&job->view.feeds, j, a->queue_bytes))
		++*taken;
	else
		job->pushed.counts.dropped++;
	jsonw_reset(j);
}

static void mark_take(struct job *job, const struct datagram *l, uint64_t now_ns)
{
	struct pushed_counts *counts = &job->pushed.counts;
	const char *text = l->text + strlen(MARK_PREFIX);
	size_t length = mark_text_length(l->text, l->length);

	if (!length || length > MARK_BYTES) {
		counts->malformed++;
	} else if (!rate_take(&job->pushed.marks.lines, now_ns, LINE_NS, LINES_NS)) {
		counts->dropped++;
	} else {
		write_mark(&job->view.json, job->view.run, elapsed_of(job, l), (int32_t)l->pid,
			   text, length);
		pushed_line_put(job, &job->pushed.marks, now_ns, &counts->marks);
	}
}

static void metrics_take(struct job *job, struct datagram *l, uint64_t now_ns)
{
	struct pushed_counts *counts = &job->pushed.counts;
	char *at = l->text, *end = l->text + l->length;
	struct point point;

	counts->malformed += !l->length;
	while (at < end) {
		int got;

		if (!rate_take(&job->pushed.metrics.lines, now_ns, LINE_NS, LINES_NS)) {
			counts->dropped += point_count_lines(at, (size_t)(end - at));
			return;
		}
		got = point_parse(&point, &at, end);
		if (!got)
			continue;
		if (got < 0) {
			counts->malformed++;
			continue;
		}
		write_point(&job->view.json, job->view.run, elapsed_of(job, l), (int32_t)l->pid,
			    &point);
		pushed_line_put(job, &job->pushed.metrics, now_ns, &counts->metrics);
	}
}

enum verdict { WAIT, TAKE, REFUSE };

static bool is_mark(const struct datagram *l)
{
	return !l->is_udp && mark_is_one(l->text, l->length);
}

static bool lacks_a_sample(const struct job *job, const struct datagram *l)
{
	return l->samples == job_samples_made(job);
}

static bool lacks_a_line(const struct job *job, const struct datagram *l)
{
	return l->samples >= job->view.tally.summary.samples;
}

static bool had_two_samples(const struct job *job, const struct datagram *l)
{
	return job_samples_made(job) - l->samples >= 2;
}

static bool is_overdue(const struct datagram *l, uint64_t now_ns)
{
	return now_ns > l->sent_ns && now_ns - l->sent_ns >= PATIENCE_NS;
}

/* @is_last: the run has ended, all its processes are known. */
static enum verdict datagram_judge(const struct job *job, const struct datagram *l, uint64_t now_ns,
				   bool is_last)
{
	if (l->is_udp)
		return TAKE;
	if (is_mark(l) && lacks_a_line(job, l) && !is_last)
		return WAIT;
	if (l->is_known || senders_know(&job->pushed.senders, l->pid, l->sent_boot_ns))
		return TAKE;
	return is_last || (had_two_samples(job, l) && is_overdue(l, now_ns)) ? REFUSE : WAIT;
}

/* A mark needs the totals at its time, for the phases. Metrics need only a known sender. */
static bool sample_is_due(const struct job *job, uint64_t now_ns)
{
	for (const struct datagram *l = job->pushed.waiting; l; l = l->next)
		if ((is_mark(l) && lacks_a_sample(job, l)) ||
		    (is_overdue(l, now_ns) && !had_two_samples(job, l)))
			return true;
	return false;
}

static void sample_for_datagrams(struct job *job)
{
	struct rate *rate = &job->pushed.samples;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), cost_ns;

	if (!sample_is_due(job, now_ns) || !rate_take(rate, now_ns, SAMPLE_NS, SAMPLES_NS))
		return;
	job_sample(job);
	cost_ns = (clock_ns(CLOCK_MONOTONIC) - now_ns) * SAMPLE_SHARE;
	if (cost_ns > SAMPLE_NS)
		rate_charge(rate, cost_ns - SAMPLE_NS);
}

static void senders_refresh(struct job *job)
{
	const struct rows *rows = &job->view.books->rows;
	struct pushed *p = &job->pushed;

	if (p->is_on && p->drains != job->view.books->tracker.drains)
		job->view.tally.forgone += senders_set_alive(&p->senders, rows->all, rows->nr) != 0;
	p->drains = job->view.books->tracker.drains;
}

/* Returns false if the feeds are not empty yet: call again. */
static bool datagrams_settle(struct job *job, bool is_last)
{
	struct pushed *p = &job->pushed;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct datagram **at = &p->waiting, *l;

	senders_refresh(job);
	while ((l = *at)) {
		enum verdict verdict = datagram_judge(job, l, now_ns, is_last);

		if (verdict == WAIT) {
			at = &l->next;
			continue;
		}
		/* let the listeners catch up */
		if (is_last && !feeds_are_empty(&job->view.feeds))
			return false;
		if (verdict == REFUSE)
			p->counts.refused += datagram_count_lines(l);
		else if (is_mark(l))
			mark_take(job, l, now_ns);
		else
			metrics_take(job, l, now_ns);
		pushed_remove(p, at);
		if (is_last)
			feeds_flush(&job->view.feeds);
	}
	return true;
}

int job_push(struct job *job, const char *text, size_t length, pid_t pid)
{
	struct datagram *l = datagram_new(text, length, (uint32_t)pid);

	if (!l)
		return -ENOMEM;
	l->is_known = true;
	job->pushed.has_come = true;
	pushed_put(&job->pushed, l, job_samples_made(job));
	return 0;
}

void job_take_pushed(struct job *job)
{
	struct datagram *came = job->pushed.is_on ? inbox_take(&job->pushed.inbox) : NULL;

	if (!came && !job->pushed.nr_waiting)
		return;
	senders_refresh(job);
	pushed_put(&job->pushed, came, job_samples_made(job));
	books_consume(job->view.books);
	sample_for_datagrams(job);
	datagrams_settle(job, false);
	feeds_flush(&job->view.feeds);
}

int job_pushed_wait(const struct job *job, int wait_ms)
{
	if (!job->pushed.nr_waiting || (wait_ms >= 0 && wait_ms < LOOK_AGAIN_MS))
		return wait_ms;
	return LOOK_AGAIN_MS;
}

void job_pause(struct job *job)
{
	struct pushed *p = &job->pushed;

	pushed_pause(p, job_samples_made(job));
	if (!job_has_sample(job))
		job_publish(job);
	job_release_held(job);
	feeds_flush(&job->view.feeds);
	datagrams_settle(job, true);
	while (p->waiting) { /* the feeds are not empty */
		p->counts.dropped += datagram_count_lines(p->waiting);
		pushed_remove(p, &p->waiting);
	}
	feeds_flush(&job->view.feeds);
}

bool job_close_pushed(struct job *job)
{
	if (!job->pushed.is_on && !job->pushed.has_come)
		return true;
	if (!datagrams_settle(job, true))
		return false;
	job->view.tally.summary.has_pushed = true;
	job->view.tally.summary.pushed = job->pushed.counts;
	return true;
}

void job_emit(struct job *job, const struct process_record *r, const struct drain_row *row,
	      bool is_left)
{
	const struct gpu_desk *gpus = &job->view.books->gpus;
	struct gpu_used used;
	struct process p;

	record_read(&p, r, row, &job->view.books->images, &job->view.run->usable,
		    job->view.epoch_less_boot_ns);
	if (gpu_pasts_sum(&gpus->pasts, r->serial, &used))
		record_add_gpus(&p, &used, &job->view.run->usable);
	if (!tally_view_shows(&job->view, r))
		p.exe = NULL;
	if (!tally_view_shows(&job->view, r) || job->spec->tracker.no_args) {
		p.args = NULL;
		p.args_length = 0;
		p.args_cut = false;
	}
	tally_record(&job->view.tally, r, is_left);
	if (!is_left) /* else job_close() has done so, before the last sample */
		tally_take_account(&job->view.tally, gpus, r->serial);
	spans_process(&job->spans, r, &p, is_left);
	if (summary_add_process(&job->view.tally.summary, &p))
		job->view.tally.forgone++;
	write_process(&job->view.json, &p);
	feeds_put(&job->view.feeds, &job->view.json);
	if (job->spec->tracker.exact_peak &&
	    (is_left ? exact_peak_left(&job->exact, r, &p, row ? row->mm : 0)
		     : exact_peak_ended(&job->exact, r, &p)))
		job->view.tally.forgone++;
	if (job->pushed.is_on)
		senders_add_ended(&job->pushed.senders, r);
}

/* A report of the books, kept until the first line is written. */
struct early_report {
	bool is_oom;
	union {
		struct process_record process;
		struct oom_event oom;
	};
};

/*
 * Returns true if the run has no first line yet; *report is where to keep the event, or NULL
 * without memory. An agent tracks a command from its exec on but learns that time later, when a
 * short command may have ended.
 */
static bool job_is_early(struct job *job, struct early_report **report)
{
	struct early_report *all;

	*report = NULL;
	if (job->state != JOB_OPEN)
		return false;
	all = memory_reallocarray(job->early, job->nr_early + 1, sizeof(*all));
	if (!all) {
		job->view.tally.forgone++;
		return true;
	}
	job->early = all;
	*report = &all[job->nr_early++];
	return true;
}

static void job_process(struct job *job, const struct process_record *r)
{
	struct early_report *early;

	if (job_is_early(job, &early)) {
		if (early)
			*early = (struct early_report){ .process = *r };
		return;
	}
	job_emit(job, r, NULL, false);
}

static void job_oom(struct job *job, const struct oom_event *e)
{
	const struct oom_kill k = oom_kill_read(e, job->spec->command);
	struct early_report *early;

	if (job_is_early(job, &early)) {
		if (early)
			*early = (struct early_report){ .is_oom = true, .oom = *e };
		return;
	}
	spans_oom(&job->spans, &e->account, &k);
	tally_view_oom(&job->view, &k, e->time_ns);
}

void job_report_early(struct job *job)
{
	for (size_t i = 0; i < job->nr_early; i++)
		if (job->early[i].is_oom)
			job_oom(job, &job->early[i].oom);
		else
			job_process(job, &job->early[i].process);
	free(job->early);
	job->early = NULL;
	job->nr_early = 0;
}

/* Events of a run are also events of each run that encloses it. */

void report_total(void *owner, const struct account_key *key, const struct account *total)
{
	for (struct job *job = owner; job; job = job->above)
		job_total(job, key, total);
}

void report_slice(void *owner, const struct slice *slice)
{
	for (struct job *job = owner; job; job = job->above)
		job_slice(job, slice);
}

void report_socket(void *owner, const struct socket_row *row)
{
	for (struct job *job = owner; job; job = job->above)
		job_socket(job, row);
}

void report_unread(void *owner)
{
	for (struct job *job = owner; job; job = job->above)
		job_unread(job);
}

void report_process(void *owner, const struct process_record *r)
{
	for (struct job *job = owner; job; job = job->above)
		job_process(job, r);
}

void report_oom(void *owner, const struct oom_event *e)
{
	for (struct job *job = owner; job; job = job->above)
		job_oom(job, e);
}

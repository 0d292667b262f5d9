// SPDX-License-Identifier: BSD-2-Clause
#include "measure/limit_watch.h"

#include "base/clock.h"
#include "base/message.h"
#include "base/text.h"
#include "measure/job.h"
#include "measure/tally.h"
#include "measure/record.h"
#include "run/sample.h"
#include "run/limit.h"
#include "run/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 2000000ULL
#define LONGEST_PAUSE_NS 64000000ULL
#define LOOK_NS 5000000ULL /* between polls of the cgroup's memory */
#define LOOK_SLOWLY_NS                                                                             \
	50000000ULL      /* if the cgroup holds memory of no process, for example page cache */
#define PROCESS_BYTES 32 /* PID and serial of a process as text */
#define ROUND_PACKETS 60 /* that fit into a socket which is at most a quarter full */

static uint64_t limit_watch_ended(const struct job *job)
{
	const uint64_t born = processes_born(&job->view.tally.totals),
		       live = job->view.tally.totals.processes;
	const uint64_t ended = born > live ? born - live : 0;

	return ended > job->limits.ended_before ? ended - job->limits.ended_before : 0;
}

static void limit_watch_send_ended(const struct job *job, int what)
{
	char ended[24];

	snprintf(ended, sizeof(ended), "%" PRIu64, limit_watch_ended(job));
	control_send(job->spec->control_fd, CONTROL_LIVING, what, job->view.books->drain_boot_ns,
		     ended);
}

/* Sends as many processes as fit; the rest of thousands is sent when these have ended. */
static void limit_watch_send(struct job *job)
{
	const uint64_t at_ns = job->view.books->drain_boot_ns;
	char text[sizeof(((struct control *)0)->text)];
	size_t n = 0, nr = 0;

	if (!control_has_room(
		    job->spec->control_fd)) /* the launcher still handles the last round */
		return;
	for (size_t i = 0; i < job->view.tally.rows.nr && nr < ROUND_PACKETS; i++) {
		const struct drain_row *row = job->view.tally.rows.all[i];

		if (row->end_boot_ns)
			continue;
		if (n + PROCESS_BYTES >= sizeof(text)) {
			control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
			n = 0;
			nr++;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%" PRIu32 ":%" PRIx64 " ",
				      row->pid, (uint64_t)row->serial);
	}
	if (n)
		control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
	limit_watch_send_ended(job, LIVING_ALL);
}

/*
 * Kills in the kernel what forks faster than it is found, with the rights of the launcher: an
 * agent, or a bpfmon that lends rights, kills only what the run's user may kill.
 */
static void limit_watch_kill_in_kernel(struct job *job)
{
	const struct job_spec *spec = job->spec;
	const uint32_t uid = spec->hides_others && spec->shown_to ? spec->shown_to : END_ANY;
	struct books *b = job->view.books;

	if (!b->whole_node)
		tracker_kill_start(&b->tracker, 0, uid);
	for (size_t i = 0; b->whole_node && i < b->nr_owners; i++)
		if (job_has(job, &b->owners[i].account))
			tracker_kill_start(&b->tracker, b->owners[i].account.tree, uid);
}

void limit_watch_leave(struct job *job)
{
	struct books *b = job->view.books;

	if (!job->limits.is_ending)
		return;
	limit_watch_send_ended(job, LIVING_OVER);
	if (!b->whole_node)
		tracker_kill_stop(&b->tracker, 0);
	for (size_t i = 0; b->whole_node && i < b->nr_owners; i++)
		if (job_has(job, &b->owners[i].account))
			tracker_kill_stop(&b->tracker, b->owners[i].account.tree);
}

void limit_watch_kill(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (!l->is_ending || l->is_killing)
		return;
	l->is_killing = true;
	l->pause_ns = FIRST_PAUSE_NS;
	l->next_ns = clock_ns(CLOCK_MONOTONIC);
}

static void limit_watch_round(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (l->is_killing)
		/* each time: new spans and inner runs have other accounts */
		limit_watch_kill_in_kernel(job);
	books_drain(job->view.books, false);
	limit_watch_send(job);
	feeds_flush(&job->view.feeds);
	l->pause_ns = l->pause_ns < LONGEST_PAUSE_NS ? l->pause_ns * 2 : LONGEST_PAUSE_NS;
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + l->pause_ns;
}

/* Begins to send the launcher the processes to end. */
static void limit_watch_begin_end(struct job *job)
{
	struct limit_watch *l = &job->limits;

	l->ended_before = limit_watch_ended(job);
	l->is_ending = true;
	l->pause_ns = FIRST_PAUSE_NS;
	limit_watch_send(job); /* those of the sample */
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + l->pause_ns;
}

void limit_watch_note_report(struct job *job)
{
	job->limits.is_reported = true;
}

/*
 * Polls the cgroup's memory. It holds more than its processes do, so only a drain tells whether
 * they exceed the limit.
 */
static void limit_watch_poll_cgroup(struct job *job)
{
	struct limit_watch *l = &job->limits;
	struct sample smp = { 0 };
	uint64_t held;

	l->next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	if (!cgroup_stat_usage(&job->cgroup, &held) || held <= l->memory_at)
		return;
	books_drain(job->view.books, false);
	tally_put_memory(&job->view.tally, &smp);
	if ((sample_has(&smp, M_rss) && smp.value[M_rss] > l->memory_at) ||
	    (needed_watch_read_cgroup(job) && job->needed.now_bytes > l->memory_at))
		job_publish(job);
	feeds_flush(&job->view.feeds);
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_SLOWLY_NS;
}

/* The kernel's report may exceed what the later sample finds. */
static void limit_watch_take_report(struct job *job)
{
	struct limit_watch *l = &job->limits;
	struct tree_peak peak;

	l->is_reported = false;
	if (!tracker_peak(&job->view.books->tracker, &peak))
		l->reported_bytes = peak.peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	job_sample(job);
}

/* Returns when the wall limit or the next round or poll is due; 0: never. */
static uint64_t limit_watch_due_ns(const struct job *job)
{
	uint64_t due_ns = job->limits.wall_at ? job->view.start_ns + job->limits.wall_at : 0;

	if (job->limits.is_ending)
		return job->limits.next_ns;
	if (job->limits.has_cgroup && job->limits.memory_at &&
	    (!due_ns || job->limits.next_ns < due_ns))
		due_ns = job->limits.next_ns;
	return due_ns;
}

void limit_watch_attend(struct job *job)
{
	uint64_t due_ns;

	if (!job->spec->nr_limits || job->state != JOB_RUNS)
		return;
	if (job->limits.is_reported && !job->limits.is_ending)
		limit_watch_take_report(job);
	due_ns = limit_watch_due_ns(job);
	if (!due_ns || clock_ns(CLOCK_MONOTONIC) < due_ns)
		return;
	if (job->limits.is_ending)
		limit_watch_round(job);
	else if (job->limits.wall_at && due_ns == job->view.start_ns + job->limits.wall_at)
		job_sample(job);
	else
		limit_watch_poll_cgroup(job);
}

int limit_watch_wait(const struct job *job, int wait_ms)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = limit_watch_due_ns(job);
	uint64_t left_ms;

	if (!job->spec->nr_limits || job->state != JOB_RUNS || !due_ns)
		return wait_ms;
	left_ms = due_ns > now_ns ? (due_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	if (left_ms > INT32_MAX)
		left_ms = INT32_MAX;
	return wait_ms < 0 || left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms;
}

/* Sets the limits that are checked between samples. */
static void limit_watch_set_nearest(struct job *job)
{
	struct limit_watch *l = &job->limits;

	l->memory_at = l->wall_at = 0;
	for (unsigned i = 0; i < job->spec->nr_limits; i++) {
		uint64_t *at;
		const struct limit *limit = &job->spec->limits[i];

		/* only samples have a better value */
		if (l->is_hit[i] || l->is_contradicted[i] || limit->of != LIMIT_OF_RUN)
			continue;
		if (limit->is_wall)
			at = &l->wall_at;
		else if (limit->parts[0] == M_rss)
			at = &l->memory_at;
		else
			continue;
		if (!*at || limit->most < *at)
			*at = limit->most;
	}
	if (job->spec->tracker.exact_peak)
		tracker_watch_memory(&job->view.books->tracker, l->memory_at);
}

static uint64_t number_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The kernel may count more written than was: a whole large folio for a partial write. The bytes
 * written by calls are closer if they are less.
 */
static uint64_t part_value(enum metric_id id, const uint64_t *value, const struct metric_set *have)
{
	if (id != M_write || !metric_has(have, M_wchar))
		return value[id];
	return number_least(value[M_write], value[M_wchar]);
}

/* Sums the metrics of the limit. Returns false if one is unknown. */
static bool limit_value(const struct limit *l, const struct sample *smp, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < l->nr_parts; i++) {
		if (!sample_has(smp, l->parts[i]))
			return false;
		*value += part_value(l->parts[i], smp->value, &smp->have);
	}
	return true;
}

static void hit_set_process(struct limit_hit *hit, struct job *job, const struct drain_row *row)
{
	struct process_record r;

	hit->has_process = true;
	hit->pid = (int32_t)row->pid;
	if (!tracker_process(&job->view.books->tracker, row, &r, NULL))
		comm_copy(hit->comm, r.comm, sizeof(r.comm));
}

static void hit_set_span(struct limit_hit *hit, const struct live_span *s)
{
	hit->span = s->id;
	memcpy(hit->span_name, s->label.name,
	       text_cut_bytes(s->label.name, sizeof(hit->span_name) - 1));
}

/* Returns the value of one live process, or 0 if unknown. */
static uint64_t process_value(struct job *job, const struct limit *l, const struct drain_row *row)
{
	const uint64_t now_ns = job->view.books->drain_boot_ns;
	struct process_record r;
	struct process_sample p;
	uint64_t sum = 0;

	if (l->is_wall) /* the command is older than its run, for which it waited */
		return number_least(now_ns > row->start_boot_ns ? now_ns - row->start_boot_ns : 0,
				    job->view.smp.elapsed_ns);
	process_sample_take(&p, &job->view, row, 0);
	if (metric_is_of_process(l->parts[0]) &&
	    !tracker_process(&job->view.books->tracker, row, &r, NULL))
		record_read_counters(&r, &job->view.run->usable, p.value, &p.have);
	for (unsigned i = 0; i < l->nr_parts; i++)
		if (metric_has(&p.have, l->parts[i]))
			sum += part_value(l->parts[i], p.value, &p.have);
	return sum;
}

/* Returns the live process with the largest value, or NULL if unknown. */
static const struct drain_row *rows_find_most(struct job *job, const struct limit *l,
					      const struct row_list *rows, uint64_t *most)
{
	const struct drain_row *found = NULL;
	uint64_t value;

	*most = 0;
	for (size_t i = 0; i < rows->nr; i++) {
		if (rows->all[i]->end_boot_ns)
			continue;
		value = process_value(job, l, rows->all[i]);
		if (value <= *most)
			continue;
		*most = value;
		found = rows->all[i];
	}
	return found;
}

/*
 * Compares the memory needed with the limit, because RSS may count pages several times. Returns
 * true if it is exceeded, or, with hit->is_contradicted, if it is not.
 */
static bool memory_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit,
			   uint64_t of_largest)
{
	uint64_t most;
	bool is_known;

	if (of_largest > l->most)
		return true;
	is_known = needed_watch_now(job, &hit->needed_bytes, &most);
	if (is_known && hit->needed_bytes > l->most) {
		if (l->is_needed)
			hit->value = hit->needed_bytes;
		return true;
	}
	if (!is_known || most > l->most)
		/* no better value is available; else one comes soon */
		return !needed_watch_request_pss(job);
	hit->is_contradicted = true;
	return !l->is_needed;
}

static bool run_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	const struct sample *smp = &job->view.smp;
	const bool is_of_rss = !l->is_wall && l->parts[0] == M_rss;
	const struct drain_row *row;
	uint64_t most, needed;

	hit->value = smp->elapsed_ns;
	/* a shorter time is too short to measure busy cores */
	if (!l->is_wall && l->parts[0] == M_cores && smp->elapsed_ns < SHORTEST_FOR_CORES)
		return false;
	if (!l->is_wall && !limit_value(l, smp, &hit->value))
		return false;
	if (is_of_rss && job->limits.reported_bytes > hit->value)
		hit->value = job->limits.reported_bytes;
	/* a cgroup's value may be larger: it includes files in memory */
	if (l->is_needed && needed_watch_now(job, &needed, &most) && needed > hit->value)
		hit->value = needed;
	if (hit->value <= l->most)
		return false;
	row = l->is_wall ? NULL : rows_find_most(job, l, &job->view.tally.rows, &most);
	if (is_of_rss && !memory_exceeds(job, l, hit, row ? most : 0))
		return false;
	if (row)
		hit_set_process(hit, job, row);
	return true;
}

static bool process_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	const struct drain_row *row = rows_find_most(job, l, &job->view.tally.rows, &hit->value);

	if (!row || hit->value <= l->most)
		return false;
	hit_set_process(hit, job, row);
	return true;
}

static bool span_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	for (size_t i = 0; i < job->spans.nr; i++) {
		const struct live_span *s = job->spans.all[i];
		const struct drain_row *row;
		struct sample smp = { 0 };
		uint64_t most;

		span_take_sample(&job->spans, s, &smp);
		hit->value = job->view.books->drain_boot_ns > s->start_boot_ns
				     ? job->view.books->drain_boot_ns - s->start_boot_ns
				     : 0;
		if ((!l->is_wall && !limit_value(l, &smp, &hit->value)) || hit->value <= l->most)
			continue;
		row = rows_find_most(job, l, &s->tally.rows, &most);
		if (row)
			hit_set_process(hit, job, row);
		hit_set_span(hit, s);
		return true;
	}
	return false;
}

static void limit_note_hit(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	char text[sizeof(((struct control *)0)->text)];
	struct jsonw j = { 0 };

	memcpy(hit->text, l->text, sizeof(hit->text));
	hit->is_end = !l->is_soft && !hit->is_contradicted && job->state == JOB_RUNS;
	hit->unit = limit_unit(l);
	hit->elapsed_ns = job->view.smp.elapsed_ns;
	if (!job->view.tally.summary.limit.is_end)
		job->view.tally.summary.limit = *hit;
	write_limit(&job->view.json, job->view.run, hit);
	feeds_put(&job->view.feeds, &job->view.json);
	jsonw_object(&j, NULL);
	limit_hit_write(&j, hit);
	jsonw_object_end(&j);
	/* send a hit that does not fit without its values */
	if (!j.failed && j.used < sizeof(text))
		snprintf(text, sizeof(text), "%.*s", (int)j.used, j.text);
	else
		snprintf(text, sizeof(text), "{}");
	control_send(job->spec->control_fd, CONTROL_LIMIT, hit->is_end, 0, text);
	jsonw_done(&j);
	if (hit->is_end && !job->limits.is_ending)
		limit_watch_begin_end(job);
}

/* After the run, live processes and their memory are gone. */
static bool limit_is_of_total(const struct limit *l)
{
	return l->of == LIMIT_OF_RUN &&
	       (l->is_wall || metric_get(l->parts[0])->kind == KIND_COUNTER);
}

/* Compares the sample that was just made, or just got its PSS, with the limits. */
static void limit_watch_check(struct job *job)
{
	static bool (*const exceeds[NR_LIMIT_OF])(struct job *, const struct limit *,
						  struct limit_hit *) = {
		[LIMIT_OF_RUN] = run_exceeds,
		[LIMIT_OF_PROCESS] = process_exceeds,
		[LIMIT_OF_SPAN] = span_exceeds,
	};
	bool is_any = false;

	if ((job->state != JOB_RUNS && job->state != JOB_LEAVES) || job->limits.is_ending)
		return;
	if (job->limits.has_spans)
		spans_add_up(&job->spans);
	for (unsigned i = 0; i < job->spec->nr_limits; i++) {
		const struct limit *l = &job->spec->limits[i];
		struct limit_hit hit = { 0 };

		if (job->limits.is_hit[i] || (job->state == JOB_LEAVES && !limit_is_of_total(l)) ||
		    !exceeds[l->of](job, l, &hit))
			continue;
		is_any = true;
		if (hit.is_contradicted && job->limits.is_contradicted[i])
			continue;
		*(hit.is_contradicted ? &job->limits.is_contradicted[i] : &job->limits.is_hit[i]) =
			true;
		limit_note_hit(job, l, &hit);
	}
	job->limits.reported_bytes = 0;
	if (is_any)
		limit_watch_set_nearest(job);
}

void limit_watch_open(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (!job->spec->nr_limits)
		return;
	job->sampled = limit_watch_check;
	limit_watch_set_nearest(job);
	for (unsigned i = 0; i < job->spec->nr_limits; i++)
		l->has_spans |= job->spec->limits[i].of == LIMIT_OF_SPAN;
	l->has_cgroup = l->memory_at && *job->own_cgroup.cg.path &&
			cgroup_stat_watch(&job->cgroup, &job->own_cgroup);
	l->next_ns = clock_ns(CLOCK_MONOTONIC);
}

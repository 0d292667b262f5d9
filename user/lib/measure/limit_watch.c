// SPDX-License-Identifier: BSD-2-Clause
#include "measure/limit_watch.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/text.h"
#include "measure/job.h"
#include "measure/record.h"
#include "run/cores.h"
#include "run/limits.h"
#include "run/writer.h"

#include <stdio.h>
#include <string.h>

/* Sets the limits that the run is nearest to. */
static void limit_watch_aim(struct job *job)
{
	struct limit_watch *l = &job->limits;

	l->memory_at = l->wall_at = 0;
	for (unsigned i = 0; i < job->spec->nr_limits; i++) {
		uint64_t *at;
		const struct limit *limit = &job->spec->limits[i];

		/* a better figure is known at samples only */
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
		tracker_watch_memory(&job->books->tracker, l->memory_at);
}

void limit_watch_open(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (!job->spec->nr_limits)
		return;
	limit_watch_aim(job);
	for (unsigned i = 0; i < job->spec->nr_limits; i++)
		l->has_spans |= job->spec->limits[i].of == LIMIT_OF_SPAN;
	l->has_cgroup = l->memory_at && *job->own_cgroup.cg.path &&
			cgroup_stat_watch(&job->cgroup, &job->own_cgroup);
	l->next_ns = clock_ns(CLOCK_MONOTONIC);
}

static uint64_t number_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The kernel may count more as written than was: all of a large folio for a write to a part of it.
 * What calls have written is nearer to the truth, where it is less.
 */
static uint64_t part_value(enum metric_id id, const uint64_t *value, const struct metric_set *have)
{
	if (id != M_write || !metric_has(have, M_wchar))
		return value[id];
	return number_least(value[M_write], value[M_wchar]);
}

/* The sum of what @l is of. False: that is not known. */
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
	if (!tracker_process(&job->books->tracker, row, &r, NULL))
		comm_copy(hit->comm, r.comm, sizeof(r.comm));
}

static void hit_set_span(struct limit_hit *hit, const struct span *s)
{
	hit->span = s->id;
	memcpy(hit->span_name, s->label.name,
	       text_cut_bytes(s->label.name, sizeof(hit->span_name) - 1));
}

/* What one live process has of it; 0: nothing, or that is not known. */
static uint64_t process_value(struct job *job, const struct limit *l, const struct drain_row *row)
{
	const uint64_t now_ns = job->books->drain_boot_ns;
	struct process_record r;
	struct process_sample p;
	uint64_t sum = 0;

	if (l->is_wall) /* the command is older than its run: it has waited for that */
		return number_least(now_ns > row->start_boot_ns ? now_ns - row->start_boot_ns : 0,
				    job->held.smp.elapsed_ns);
	process_sample_take(&p, job, row, 0);
	if (metric_is_of_process(l->parts[0]) &&
	    !tracker_process(&job->books->tracker, row, &r, NULL))
		record_read_counters(&r, &job->run->usable, p.value, &p.have);
	for (unsigned i = 0; i < l->nr_parts; i++)
		if (metric_has(&p.have, l->parts[i]))
			sum += part_value(l->parts[i], p.value, &p.have);
	return sum;
}

/* The live process that has the most of it; NULL: that cannot be told of one. */
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

/* What RSS may count several times is compared with what the run needs. True: it is beyond the
 * limit; or it is not, which @hit then says. */
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
		return !needed_watch_ask(job); /* there is no better figure; else it comes soon */
	hit->is_contradicted = true;
	return !l->is_needed;
}

static bool run_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	const struct sample *smp = &job->held.smp;
	const bool is_of_rss = !l->is_wall && l->parts[0] == M_rss;
	const struct drain_row *row;
	uint64_t most, needed;

	hit->value = smp->elapsed_ns;
	/* over a shorter time the number of busy cores cannot be measured */
	if (!l->is_wall && l->parts[0] == M_cores && smp->elapsed_ns < SHORTEST_FOR_CORES)
		return false;
	if (!l->is_wall && !limit_value(l, smp, &hit->value))
		return false;
	if (is_of_rss && job->limits.reported_bytes > hit->value)
		hit->value = job->limits.reported_bytes;
	/* of a cgroup it may be more: files in memory */
	if (l->is_needed && needed_watch_now(job, &needed, &most) && needed > hit->value)
		hit->value = needed;
	if (hit->value <= l->most)
		return false;
	row = l->is_wall ? NULL : rows_find_most(job, l, &job->rows, &most);
	if (is_of_rss && !memory_exceeds(job, l, hit, row ? most : 0))
		return false;
	if (row)
		hit_set_process(hit, job, row);
	return true;
}

static bool process_exceeds(struct job *job, const struct limit *l, struct limit_hit *hit)
{
	const struct drain_row *row = rows_find_most(job, l, &job->rows, &hit->value);

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

		span_take_sample(job, s, &smp);
		hit->value = job->books->drain_boot_ns > s->start_boot_ns
				     ? job->books->drain_boot_ns - s->start_boot_ns
				     : 0;
		if ((!l->is_wall && !limit_value(l, &smp, &hit->value)) || hit->value <= l->most)
			continue;
		row = rows_find_most(job, l, &s->rows, &most);
		if (row)
			hit_set_process(hit, job, row);
		hit_set_span(hit, &s->span);
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
	hit->elapsed_ns = job->held.smp.elapsed_ns;
	if (!job->summary.limit.is_end)
		job->summary.limit = *hit;
	write_limit(&job->json, job->run, hit);
	feeds_put(&job->feeds, &job->json);
	jsonw_object(&j, NULL);
	limit_hit_write(&j, hit);
	jsonw_object_end(&j);
	/* what does not fit is said without its figures */
	if (!j.failed && j.used < sizeof(text))
		snprintf(text, sizeof(text), "%.*s", (int)j.used, j.text);
	else
		snprintf(text, sizeof(text), "{}");
	control_send(job->spec->control_fd, CONTROL_LIMIT, hit->is_end, 0, text);
	jsonw_done(&j);
	if (hit->is_end && !job->limits.is_ending)
		limit_watch_begin_end(job);
}

/* After the end of the run: of live processes, and of the memory that they have, nothing is left.
 */
static bool limit_is_of_total(const struct limit *l)
{
	return l->of == LIMIT_OF_RUN &&
	       (l->is_wall || metric_get(l->parts[0])->kind == KIND_COUNTER);
}

void limit_watch_check(struct job *job)
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
		limit_watch_aim(job);
}

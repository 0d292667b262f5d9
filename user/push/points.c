// SPDX-License-Identifier: BSD-2-Clause
#include "push/point.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

#define CORE                                                                                       \
	"cpu_seconds,runqueue_wait_seconds,rss_bytes,rss_anon_bytes,swap_bytes,processes,threads," \
	"majflt,read_bytes,write_bytes,rchar_bytes,wchar_bytes,cgroup_memory_bytes,"               \
	"cgroup_oom_kills,gpu_seconds,gpus_held,gpus_idle,gpu_memory_bytes,gpu_xid_errors"
#define MORE CORE ",cpu,mem,io,delay,proc,gpu,energy"

static void metrics_choose(struct metric_set *set, const char *metrics)
{
	const char *bad;
	size_t length;

	*set = (struct metric_set){ 0 };
	if (!strcmp(metrics, "all"))
		metric_set_all(set);
	else
		metric_set_parse(set, strcmp(metrics, "more") ? CORE : MORE, &bad, &length);
}

int points_init(struct points *p, const char *instance, const char *tags, const char *metrics,
		uint64_t interval_ns, enum dialect dialect)
{
	*p = (struct points){ .notation = dialect == DIALECT_OTLP ? &point_otlp : &point_lines,
			      .interval_ns = interval_ns,
			      .began_epoch_ns = clock_ns(CLOCK_REALTIME) };
	p->notation->init(p, instance, tags);
	metrics_choose(&p->metrics, metrics);
	return p->tags.failed || p->resource.failed ? -ENOMEM : 0;
}

void points_done(struct points *p)
{
	buffer_done(&p->tags);
	buffer_done(&p->resource);
	buffer_done(&p->rows);
}

void points_put_labels(struct buffer *t, const struct job_labels *l)
{
	labels_put_all(t, l, influx_put_tag);
}

void points_put_attributes(struct buffer *t, const struct job_labels *l)
{
	labels_put_all(t, l, point_otlp.put_tag);
}

int points_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns)
{
	struct points *p = context;
	const size_t begin = p->rows.used;

	p->notation->put_ended(p, l, values, epoch_ns);
	if (p->rows.failed) {
		p->rows.used = begin;
		p->rows.failed = false;
		return -ENOMEM;
	}
	p->nr_rows++;
	return 0;
}

/* The time of a line: databases that keep ms then have the same as those that keep ns. */
static uint64_t whole_ms(uint64_t ns)
{
	return ns / NSEC_PER_MSEC * NSEC_PER_MSEC;
}

static bool is_shown(const struct points *p, const struct scope *scope, const struct series *s,
		     enum metric_id id)
{
	return scope_has(scope, id) && metric_has(&p->metrics, id) && metric_has(&s->have, id);
}

static void series_put_metrics(struct point *at, const struct scope *scope, struct series *s)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const struct family f = scope_family(scope, (enum metric_id)i);

		if (!is_shown(at->p, scope, s, (enum metric_id)i))
			continue;
		point_put_value(at, &f, s->value[i]);
		metric_put(&s->shown, (enum metric_id)i);
	}
}

static void series_put_states(struct point *at, struct series *s)
{
	uint64_t value;

	for (size_t i = 0; i < NR_JOB_STATES; i++) {
		if (!job_state_read(s, i, &value))
			continue;
		point_put_value(at, job_state_family(i), value);
		s->states_shown |= 1U << i;
	}
}

/*
 * The counters at 0, when the series began, before its line at @epoch_ns: so the increase of all
 * that it counts is seen.
 */
static void series_put_beginning(struct buffer *t, const struct points *p,
				 const struct scope *scope, const struct series *s,
				 uint64_t epoch_ns)
{
	const bool is_before =
		s->start_epoch_ns && whole_ms(s->start_epoch_ns) < whole_ms(epoch_ns);
	struct point at = { .t = t,
			    .p = p,
			    .prefix = scope->prefix,
			    .labels = &s->labels,
			    .time_ns = whole_ms(is_before ? s->start_epoch_ns
							  : epoch_ns - p->interval_ns) };

	if (p->notation->has_starts) /* that says it, too */
		return;
	point_begin(&at);
	for (int i = 0; i < NR_METRICS; i++) {
		const struct family f = scope_family(scope, (enum metric_id)i);

		if (f.kind == KIND_COUNTER && is_shown(p, scope, s, (enum metric_id)i))
			point_put_value(&at, &f, 0);
	}
	point_end(&at);
}

static void series_put(struct buffer *t, const struct points *p, const struct scope *scope,
		       struct series *s, uint64_t epoch_ns)
{
	struct point at = { .t = t,
			    .p = p,
			    .prefix = scope->prefix,
			    .labels = &s->labels,
			    .time_ns = whole_ms(epoch_ns),
			    .start_ns = s->began_epoch_ns };

	if (s->is_new)
		series_put_beginning(t, p, scope, s, epoch_ns);
	point_begin(&at);
	series_put_metrics(&at, scope, s);
	if (scope == &scopes[SCOPE_JOB])
		series_put_states(&at, s);
	point_end(&at);
}

/* Says of all metrics that the series of a job has had that they end after @epoch_ns. */
static void series_put_end(struct buffer *t, const struct points *p, struct series *s,
			   uint64_t epoch_ns)
{
	struct point at = { .t = t,
			    .p = p,
			    .prefix = scopes[SCOPE_JOB].prefix,
			    .labels = &s->labels,
			    .time_ns = whole_ms(epoch_ns) + NSEC_PER_MSEC,
			    .start_ns = s->began_epoch_ns,
			    .is_end = true };

	if (!p->notation->has_starts)
		return;
	point_begin(&at);
	for (int i = 0; i < NR_METRICS; i++) {
		const struct family f = scope_family(&scopes[SCOPE_JOB], (enum metric_id)i);

		if (metric_has(&s->shown, (enum metric_id)i))
			point_put_value(&at, &f, 0);
	}
	for (size_t i = 0; i < NR_JOB_STATES; i++)
		if (s->states_shown >> i & 1)
			point_put_value(&at, job_state_family(i), 0);
	point_end(&at);
	s->shown = (struct metric_set){ 0 };
	s->states_shown = 0;
}

/* The last line of a job is of its end, but after the line before. */
static void job_put(struct buffer *t, const struct points *p, struct series *s, uint64_t epoch_ns)
{
	const bool has_ended = s->is_own && !s->runs;
	uint64_t at_ns = epoch_ns;

	if (has_ended) {
		if (s->scrapes)
			return;
		if (s->end_epoch_ns > s->shown_epoch_ns && s->end_epoch_ns < epoch_ns)
			at_ns = s->end_epoch_ns;
	} else if (!s->live && s->runs) {
		return; /* nothing is known of its jobs now */
	}
	s->shown_epoch_ns = at_ns + NSEC_PER_MSEC;
	series_put(t, p, &scopes[SCOPE_JOB], s, at_ns);
	if (has_ended)
		series_put_end(t, p, s, at_ns);
}

static void losses_put(struct point *at, const struct agent_state *a)
{
	for (size_t i = 0; i < a->nr_losses; i++) {
		struct buffer labels = { 0 };

		at->p->notation->put_tag(&labels, "what", a->losses[i].name,
					 strlen(a->losses[i].name));
		at->t->failed |= labels.failed;
		at->labels = &labels;
		point_begin(at);
		point_put_value(at, &agent_losses_family, a->losses[i].count);
		point_end(at);
		buffer_done(&labels);
	}
}

static void agent_put(struct buffer *t, const struct points *p, const struct board *b,
		      uint64_t epoch_ns)
{
	const struct agent_state *a = &b->agent;
	/* when it began to count is unknown */
	struct point at = {
		.t = t, .p = p, .prefix = agent_up_family.prefix, .time_ns = whole_ms(epoch_ns)
	};

	point_begin(&at);
	point_put_value(&at, &agent_up_family, a->is_up);
	if (b->last_line_epoch_ns)
		point_put_value(&at, &agent_last_line_family, b->last_line_epoch_ns);
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct family f = agent_family(i);

		if (a->has[i])
			point_put_value(&at, &f, a->value[i]);
	}
	point_end(&at);
	losses_put(&at, a);
}

/* The agent is gone, and its jobs may have ended with it. A new series begins all the same. */
static void points_put_gone(const struct points *p, struct buffer *t, struct board *b,
			    uint64_t epoch_ns)
{
	for (struct series *s = b->series.first; s; s = s->next)
		if (!s->runs)
			job_put(t, p, s, epoch_ns);
		else if (s->is_new)
			series_put_beginning(t, p, &scopes[SCOPE_JOB], s, epoch_ns);
	for (const struct series *s = b->users.first; s; s = s->next)
		if (s->is_new)
			series_put_beginning(t, p, &scopes[SCOPE_USER], s, epoch_ns);
}

void points_put_board(struct points *p, struct buffer *t, struct board *b, uint64_t epoch_ns)
{
	agent_put(t, p, b, epoch_ns);
	if (!b->agent.is_up) {
		points_put_gone(p, t, b, epoch_ns);
		return;
	}
	for (struct series *s = b->series.first; s; s = s->next)
		job_put(t, p, s, epoch_ns);
	for (struct series *s = b->users.first; s; s = s->next)
		series_put(t, p, &scopes[SCOPE_USER], s, epoch_ns);
	if (b->node.runs)
		series_put(t, p, &scopes[SCOPE_NODE], &b->node, epoch_ns);
}

static const struct {
	struct family family;
	size_t offset;
} own[] = {
#define PUSH_COUNT(key, kind, unit, help)                                                          \
	{ { "bpfmon_push_", #key, help, NULL, KIND_##kind, UNIT_##unit },                          \
	  offsetof(struct push_counts, key) },
#include "push/push_counts.def"
};

void points_put_own(const struct points *p, struct buffer *t, const struct board *b,
		    const struct push_counts *counts, uint64_t epoch_ns)
{
	struct point at = { .t = t,
			    .p = p,
			    .prefix = own[0].family.prefix,
			    .time_ns = whole_ms(epoch_ns),
			    .start_ns = p->began_epoch_ns };

	point_begin(&at);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		point_put_value(&at, &own[i].family,
				*(const uint64_t *)((const char *)counts + own[i].offset));
	for (size_t i = 0; i < NR_BOARD_COUNTS; i++) {
		const struct family f = board_count_family(i, own[0].family.prefix);

		if (i != COUNT_ended_dropped) /* they are rows here */
			point_put_value(&at, &f, board_count_read(b, i));
	}
	point_end(&at);
}

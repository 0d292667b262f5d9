// SPDX-License-Identifier: BSD-2-Clause
#include "push/points.h"

#include "base/clock.h"
#include "board/shown.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ROW_PLACES (100 * NSEC_PER_MSEC)

#define CORE                                                                                       \
	"cpu_seconds,runqueue_wait_seconds,rss_bytes,rss_anon_bytes,swap_bytes,processes,threads," \
	"majflt,read_bytes,write_bytes,rchar_bytes,wchar_bytes,cgroup_memory_bytes,"               \
	"cgroup_oom_kills"
#define MORE CORE ",cpu,mem,io,delay,proc"

/* Appends "KEY=VALUE ..." as tags. */
static void tags_put_list(struct buffer *t, const char *tags)
{
	for (size_t n; tags += strspn(tags, " "), (n = strcspn(tags, " ")); tags += n) {
		const char *value = memchr(tags, '=', n);
		char key[INFLUX_KEY_BYTES];

		if (!value || (size_t)(value - tags) >= sizeof(key))
			continue;
		memcpy(key, tags, (size_t)(value - tags));
		key[value - tags] = '\0';
		influx_put_tag(t, key, value + 1, (size_t)(tags + n - value - 1));
	}
}

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
		uint64_t interval_ns)
{
	*p = (struct points){ .interval_ns = interval_ns };
	influx_put_tag(&p->tags, "instance", instance, strlen(instance));
	tags_put_list(&p->tags, tags);
	metrics_choose(&p->metrics, metrics);
	return p->tags.failed ? -ENOMEM : 0;
}

void points_done(struct points *p)
{
	buffer_done(&p->tags);
	buffer_done(&p->rows);
}

static void tag_put(struct buffer *t, const char *key, const char *value)
{
	influx_put_tag(t, key, value, strlen(value));
}

/* Those of which there are few, whatever the number of jobs. */
static void labels_put_owner(struct buffer *t, const struct job_labels *l)
{
	tag_put(t, "user", l->user);
	tag_put(t, "kind", l->kind);
	tag_put(t, "nested", l->is_nested ? "yes" : "");
}

void points_put_labels(struct buffer *t, const struct job_labels *l)
{
	tag_put(t, "job", l->job);
	tag_put(t, "name", l->name);
	labels_put_owner(t, l);
	if (!t->used)
		tag_put(t, "kind", "unknown"); /* the text is a key, too */
}

/* A line: its fields follow, and its time if it has one. */
struct point {
	struct buffer *t;
	size_t begin;
	bool has_field;
};

/* @prefix is that of the names in bpfmon-exporter, "bpfmon_job_"; the measurement lacks its "_". */
static struct point point_begin(struct buffer *t, const struct points *p, const char *prefix,
				const struct buffer *labels)
{
	struct point at = { t, t->used, false };

	buffer_put(t, prefix, strlen(prefix) - 1);
	buffer_put(t, p->tags.text, p->tags.used);
	if (labels)
		buffer_put(t, labels->text, labels->used);
	return at;
}

/* Seconds are always decimals, and other numbers integers: a field never changes its type. */
static void point_put_number(struct point *at, const struct family *f, uint64_t value)
{
	unsigned decimals = metric_unit_decimals(f->unit);

	if (!decimals && value > INT64_MAX)
		return;
	buffer_puts(at->t, at->has_field ? "," : " ");
	at->has_field = true;
	buffer_puts(at->t, f->key);
	buffer_puts(at->t, f->kind == KIND_COUNTER ? "_total=" : "=");
	buffer_put_decimal(at->t, value, decimals);
	if (!decimals)
		buffer_puts(at->t, "i");
}

/* A line without a field would be refused: it is removed. */
static void point_end(struct point *at, uint64_t time)
{
	if (at->has_field)
		buffer_printf(at->t, " %" PRIu64 "\n", time);
	else
		at->t->used = at->begin;
}

static void ended_put_values(struct point *at, const struct ended_values *values)
{
	for (int i = 0; i < NR_ENDED_METRICS; i++) {
		const struct family f = ended_family(i);

		if (values->has[i])
			point_put_number(at, &f, values->value[i]);
	}
}

static void field_put_string(struct point *at, const char *key, const char *value)
{
	if (!*value)
		return;
	buffer_puts(at->t, at->has_field ? "," : " ");
	at->has_field = true;
	buffer_puts(at->t, key);
	buffer_puts(at->t, "=");
	influx_put_string(at->t, value, strlen(value));
}

/*
 * In InfluxDB, jobs with the same tags would replace each other at the same time, and all that end
 * between two samples of the agent end at the same time. So each has a place within a tenth of a
 * second, which is the same when the row is made again.
 */
static uint64_t ended_row_time(const struct job_labels *l, uint64_t start_epoch_ns,
			       uint64_t epoch_ns)
{
	uint64_t hash = name_hash_stable(l->job, strlen(l->job), start_epoch_ns);

	return epoch_ns / ROW_PLACES * ROW_PLACES + hash % ROW_PLACES;
}

int points_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns)
{
	struct points *p = context;
	const uint64_t at_ns = ended_row_time(l, values->value[ENDED_START], epoch_ns);
	struct buffer labels = { 0 };
	const size_t begin = p->rows.used;
	struct point at;

	labels_put_owner(&labels, l);
	at = point_begin(&p->rows, p, "bpfmon_job_ended_", &labels);
	field_put_string(&at, "job", l->job);
	field_put_string(&at, "name", l->name);
	ended_put_values(&at, values);
	point_end(&at, at_ns);
	labels.used = 0;
	points_put_labels(&labels, l);
	at = point_begin(&p->rows, p, "bpfmon_job_ended_", &labels);
	ended_put_values(&at, values);
	point_end(&at, at_ns);
	p->rows.failed |= labels.failed;
	buffer_done(&labels);
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

static void series_put_metrics(struct point *at, const struct points *p, const struct scope *scope,
			       const struct series *s)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const struct family f = scope_family(scope, (enum metric_id)i);

		if (is_shown(p, scope, s, (enum metric_id)i))
			point_put_number(at, &f, s->value[i]);
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
	struct point at = point_begin(t, p, scope->prefix, &s->labels);

	for (int i = 0; i < NR_METRICS; i++) {
		const struct family f = scope_family(scope, (enum metric_id)i);

		if (f.kind == KIND_COUNTER && is_shown(p, scope, s, (enum metric_id)i))
			point_put_number(&at, &f, 0);
	}
	point_end(&at, whole_ms(is_before ? s->start_epoch_ns : epoch_ns - p->interval_ns));
}

static void series_put(struct buffer *t, const struct points *p, const struct scope *scope,
		       const struct series *s, uint64_t epoch_ns)
{
	struct point at;
	uint64_t value;

	if (s->is_new)
		series_put_beginning(t, p, scope, s, epoch_ns);
	at = point_begin(t, p, scope->prefix, &s->labels);
	series_put_metrics(&at, p, scope, s);
	for (size_t i = 0; scope == &scopes[SCOPE_JOB] && i < NR_JOB_STATES; i++)
		if (job_state_read(s, i, &value))
			point_put_number(&at, job_state_family(i), value);
	point_end(&at, whole_ms(epoch_ns));
}

/* The last line of a job is of its end, but after the line before. */
static void job_put(struct buffer *t, const struct points *p, struct series *s, uint64_t epoch_ns)
{
	uint64_t at_ns = epoch_ns;

	if (s->is_own && !s->runs) {
		if (s->scrapes)
			return;
		if (s->end_epoch_ns > s->shown_epoch_ns && s->end_epoch_ns < epoch_ns)
			at_ns = s->end_epoch_ns;
	} else if (!s->live && s->runs) {
		return; /* nothing is known of its jobs now */
	}
	s->shown_epoch_ns = at_ns + NSEC_PER_MSEC;
	series_put(t, p, &scopes[SCOPE_JOB], s, at_ns);
}

static void agent_put(struct buffer *t, const struct points *p, const struct board *b,
		      uint64_t epoch_ns)
{
	const struct agent_state *a = &b->agent;
	struct point at = point_begin(t, p, agent_up_family.prefix, NULL);

	point_put_number(&at, &agent_up_family, a->is_up);
	if (b->last_line_epoch_ns)
		point_put_number(&at, &agent_last_line_family, b->last_line_epoch_ns);
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct family f = agent_family(i);

		if (a->has[i])
			point_put_number(&at, &f, a->value[i]);
	}
	point_end(&at, whole_ms(epoch_ns));
	for (size_t i = 0; i < a->nr_losses; i++) {
		struct buffer labels = { 0 };

		tag_put(&labels, "what", a->losses[i].name);
		t->failed |= labels.failed;
		at = point_begin(t, p, agent_losses_family.prefix, &labels);
		point_put_number(&at, &agent_losses_family, a->losses[i].count);
		point_end(&at, whole_ms(epoch_ns));
		buffer_done(&labels);
	}
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
	for (const struct series *s = b->users.first; s; s = s->next)
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
	struct point at = point_begin(t, p, own[0].family.prefix, NULL);

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		point_put_number(&at, &own[i].family,
				 *(const uint64_t *)((const char *)counts + own[i].offset));
	for (size_t i = 0; i < NR_BOARD_COUNTS; i++) {
		const struct family f = board_count_family(i, own[0].family.prefix);

		if (i != COUNT_ended_dropped) /* they are rows here */
			point_put_number(&at, &f, board_count_read(b, i));
	}
	point_end(&at, whole_ms(epoch_ns));
}

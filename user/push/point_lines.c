// SPDX-License-Identifier: BSD-2-Clause
/* Points as lines of the line protocol. */
#include "push/point.h"

#include "base/clock.h"

#include <inttypes.h>
#include <string.h>

#define ROW_PLACES (100 * NSEC_PER_MSEC)

static void lines_init(struct points *p, const char *instance, const char *tags)
{
	influx_put_tag(&p->tags, "instance", instance, strlen(instance));
	tags_put_list(&p->tags, tags, influx_put_tag);
}

/* The measurement lacks the "_" at the end of the prefix. */
static void point_line_begin(struct point *at)
{
	buffer_put(at->t, at->prefix, strlen(at->prefix) - 1);
	buffer_put(at->t, at->p->tags.text, at->p->tags.used);
	if (at->labels)
		buffer_put(at->t, at->labels->text, at->labels->used);
}

static void line_begin_field(struct point *at, const char *key)
{
	buffer_puts(at->t, at->has_value ? "," : " ");
	buffer_puts(at->t, key);
}

/* Seconds are always decimals, and other numbers integers: a field never changes its type. */
static void point_line_put(struct point *at, const struct family *f, uint64_t value)
{
	unsigned decimals = metric_unit_decimals(f->unit);

	line_begin_field(at, f->key);
	buffer_puts(at->t, f->kind == KIND_COUNTER ? "_total=" : "=");
	buffer_put_decimal(at->t, value, decimals);
	if (!decimals)
		buffer_puts(at->t, "i");
}

static void point_line_end(struct point *at)
{
	buffer_printf(at->t, " %" PRIu64 "\n", at->time_ns);
}

static void line_put_string(struct point *at, const char *key, const char *value)
{
	if (!*value)
		return;
	line_begin_field(at, key);
	at->has_value = true;
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

/* Two lines (batch.h). */
static void lines_put_ended(struct points *p, const struct job_labels *l,
			    const struct ended_values *values, uint64_t epoch_ns)
{
	struct buffer labels = { 0 };
	struct point at = { .t = &p->rows,
			    .p = p,
			    .prefix = "bpfmon_job_ended_",
			    .labels = &labels,
			    .time_ns = ended_row_time(l, values->value[ENDED_START], epoch_ns) };

	labels_put_owner(&labels, l, influx_put_tag);
	point_begin(&at);
	line_put_string(&at, "job", l->job);
	line_put_string(&at, "name", l->name);
	line_put_string(&at, "pod", l->pod);
	line_put_string(&at, "container", l->container);
	point_put_ended(&at, values);
	point_end(&at);
	labels.used = 0;
	labels_put_all(&labels, l, influx_put_tag);
	point_begin(&at);
	point_put_ended(&at, values);
	point_end(&at);
	p->rows.failed |= labels.failed;
	buffer_done(&labels);
}

const struct point_notation point_lines = {
	.init = lines_init,
	.put_tag = influx_put_tag,
	.begin = point_line_begin,
	.put = point_line_put,
	.end = point_line_end,
	.put_ended = lines_put_ended,
};

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points as records of OTLP: a ResourceMetrics with all metrics of a series, and a ResourceLogs for
 * each job that has ended. Both are field 1 of a request and have the same frame.
 */
#include "push/point.h"

#include "base/clock.h"
#include "base/json.h"
#include "push/otlp.h"
#include "version.h"

#include <string.h>
#include <time.h>

/* The numbers of fields are those of opentelemetry-proto 1.x, which never change. */
enum { REQUEST_RECORD = 1 };
enum { RECORD_RESOURCE = 1, RECORD_SCOPE = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_SCOPE = 1, SCOPE_ITEMS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum { METRIC_NAME = 1, METRIC_DESCRIPTION = 2, METRIC_UNIT = 3, METRIC_GAUGE = 5, METRIC_SUM = 7 };
enum { DATA_POINTS = 1, SUM_TEMPORALITY = 2, SUM_IS_MONOTONIC = 3 };
enum { TEMPORALITY_CUMULATIVE = 2 };
enum {
	POINT_START = 2,
	POINT_TIME = 3,
	POINT_DOUBLE = 4,
	POINT_INT = 6,
	POINT_ATTRIBUTES = 7,
	POINT_FLAGS = 8
};
enum { FLAG_NO_RECORDED_VALUE = 1 };
enum {
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTES = 6,
	LOG_OBSERVED = 11,
	LOG_EVENT = 12
};
enum { SEVERITY_INFO = 9 };
enum { ANY_STRING = 1 };

static void otlp_put_string(struct buffer *t, unsigned field, const char *s)
{
	otlp_put_text(t, field, s, strlen(s));
}

static void put_resource_tag(struct buffer *t, const char *key, const char *value, size_t length)
{
	otlp_put_attribute(t, RESOURCE_ATTRIBUTES, key, value, length);
}

static void put_point_tag(struct buffer *t, const char *key, const char *value, size_t length)
{
	otlp_put_attribute(t, POINT_ATTRIBUTES, key, value, length);
}

/* The resource of all records, and the attributes of all points. */
static void otlp_init(struct points *p, const char *instance, const char *tags)
{
	const size_t length = strlen(instance), at = otlp_open(&p->resource, RECORD_RESOURCE);

	put_resource_tag(&p->resource, "service.name", "bpfmon", strlen("bpfmon"));
	put_resource_tag(&p->resource, "service.instance.id", instance, length);
	put_resource_tag(&p->resource, "host.name", instance, length);
	tags_put_list(&p->resource, tags, put_resource_tag);
	otlp_close(&p->resource, at);
	put_point_tag(&p->tags, "instance", instance, length);
}

/* Begins a record and its scope; record_end() ends both. */
static void record_begin(struct point *at)
{
	size_t scope;

	at->inner[0] = otlp_open(at->t, REQUEST_RECORD);
	buffer_put(at->t, at->p->resource.text, at->p->resource.used);
	at->inner[1] = otlp_open(at->t, RECORD_SCOPE);
	scope = otlp_open(at->t, SCOPE_SCOPE);
	otlp_put_string(at->t, SCOPE_NAME, "bpfmon");
	otlp_put_string(at->t, SCOPE_VERSION, BPFMON_VERSION);
	otlp_close(at->t, scope);
}

static void record_end(struct point *at)
{
	otlp_close(at->t, at->inner[1]);
	otlp_close(at->t, at->inner[0]);
}

/* As of UCUM. */
static const char *unit_code(enum metric_unit unit)
{
	return unit == UNIT_BYTES ? "By" : metric_unit_name(unit);
}

static void metric_put_description(struct buffer *t, const struct family *f)
{
	size_t at = otlp_open(t, METRIC_NAME);

	openmetrics_put_name(t, f);
	otlp_close(t, at);
	at = otlp_open(t, METRIC_DESCRIPTION);
	buffer_puts(t, f->help);
	buffer_puts(t, f->help_end ? f->help_end : "");
	otlp_close(t, at);
	otlp_put_string(t, METRIC_UNIT, unit_code(f->unit));
}

static void data_point_put_value(struct buffer *t, const struct family *f, uint64_t value)
{
	unsigned decimals = metric_unit_decimals(f->unit);
	double divisor = 1;

	if (!decimals) {
		otlp_put_fixed(t, POINT_INT, value);
		return;
	}
	while (decimals--)
		divisor *= 10;
	otlp_put_double(t, POINT_DOUBLE, (double)value / divisor);
}

static void data_point_put(const struct point *at, const struct family *f, uint64_t value)
{
	const size_t point = otlp_open(at->t, DATA_POINTS);

	if (f->kind == KIND_COUNTER && at->start_ns)
		otlp_put_fixed(at->t, POINT_START,
			       at->start_ns < at->time_ns ? at->start_ns : at->time_ns);
	otlp_put_fixed(at->t, POINT_TIME, at->time_ns);
	if (!at->is_end)
		data_point_put_value(at->t, f, value);
	buffer_put(at->t, at->p->tags.text, at->p->tags.used);
	if (at->labels)
		buffer_put(at->t, at->labels->text, at->labels->used);
	if (at->is_end)
		otlp_put_integer(at->t, POINT_FLAGS, FLAG_NO_RECORDED_VALUE);
	otlp_close(at->t, point);
}

static void metric_put_point(struct point *at, const struct family *f, uint64_t value)
{
	const bool is_sum = f->kind == KIND_COUNTER;
	const size_t metric = otlp_open(at->t, SCOPE_ITEMS);
	size_t data;

	metric_put_description(at->t, f);
	data = otlp_open(at->t, is_sum ? METRIC_SUM : METRIC_GAUGE);
	data_point_put(at, f, value);
	if (is_sum) {
		otlp_put_integer(at->t, SUM_TEMPORALITY, TEMPORALITY_CUMULATIVE);
		otlp_put_integer(at->t, SUM_IS_MONOTONIC, true);
	}
	otlp_close(at->t, data);
	otlp_close(at->t, metric);
}

/* The body: JSON, with the keys of the fields that rows have in line protocol. */
static void ended_put_body(struct buffer *t, const struct job_labels *l,
			   const struct ended_values *values)
{
	const size_t body = otlp_open(t, LOG_BODY), text = otlp_open(t, ANY_STRING);
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_string(&j, "job", l->job);
	jsonw_string(&j, "name", l->name);
	jsonw_string(&j, "user", l->user);
	jsonw_string(&j, "kind", l->kind);
	if (*l->pod) {
		jsonw_string(&j, "namespace", l->namespace);
		jsonw_string(&j, "pod", l->pod);
	}
	if (*l->container)
		jsonw_string(&j, "container", l->container);
	if (l->is_nested)
		jsonw_string(&j, "nested", "yes");
	for (int i = 0; i < NR_ENDED_METRICS; i++)
		if (values->has[i])
			jsonw_decimal(&j, ended_metrics[i].name, values->value[i],
				      metric_unit_decimals(ended_metrics[i].unit));
	jsonw_object_end(&j);
	buffer_put(t, j.text, j.used);
	t->failed |= j.failed;
	jsonw_done(&j);
	otlp_close(t, text);
	otlp_close(t, body);
}

static void log_put_tag(struct buffer *t, const char *key, const char *value, size_t length)
{
	otlp_put_attribute(t, LOG_ATTRIBUTES, key, value, length);
}

static void otlp_put_ended(struct points *p, const struct job_labels *l,
			   const struct ended_values *values, uint64_t epoch_ns)
{
	struct point at = { .t = &p->rows, .p = p };
	struct buffer *t = at.t;
	size_t record;

	record_begin(&at);
	record = otlp_open(t, SCOPE_ITEMS);
	otlp_put_fixed(t, LOG_TIME, epoch_ns);
	otlp_put_integer(t, LOG_SEVERITY, SEVERITY_INFO);
	otlp_put_string(t, LOG_SEVERITY_TEXT, "INFO");
	ended_put_body(t, l, values);
	labels_put_all(t, l, log_put_tag);
	/* not the time of now: the record is the same if it is made again */
	otlp_put_fixed(t, LOG_OBSERVED, epoch_ns);
	otlp_put_string(t, LOG_EVENT, "bpfmon.job.ended");
	otlp_close(t, record);
	record_end(&at);
}

const struct point_notation point_otlp = {
	.has_starts = true,
	.init = otlp_init,
	.put_tag = put_point_tag,
	.begin = record_begin,
	.put = metric_put_point,
	.end = record_end,
	.put_ended = otlp_put_ended,
};

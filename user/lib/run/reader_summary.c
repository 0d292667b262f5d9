// SPDX-License-Identifier: BSD-2-Clause
/* The summary line read back: the rows of summary.def, each read as its type says. */
#include "run/summary_field.h"
#include "run/limit.h"
#include "run/reader.h"

#include <stdio.h>
#include <string.h>

/* @o: the object that the field is in, NULL where the line has none. False: it is not there. */
typedef bool read_fn(struct summary *s, const struct summary_field *f, const json_t *o);

static void summary_fields_read(struct summary *s, enum summary_in in, const json_t *o);

static bool summary_field_read_number(struct summary *s, const struct summary_field *f,
				      const json_t *o)
{
	uint64_t value;

	if (!value_read_number(json_object_get(o, f->key), metric_unit_decimals(f->unit), &value))
		return false;
	summary_field_set(s, f, value);
	return true;
}

static bool field_read_truth(struct summary *s, const struct summary_field *f, const json_t *o)
{
	bool *member = summary_field_member(s, f);

	*member = json_is_true(json_object_get(o, f->key));
	return true;
}

static bool summary_field_read_text(struct summary *s, const struct summary_field *f,
				    const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, f->key));

	if (text)
		snprintf(summary_field_member(s, f), f->size, "%s", text);
	return text;
}

static bool field_read_status(struct summary *s, const struct summary_field *f, const json_t *o)
{
	const json_t *v = json_object_get(o, f->key);
	int *member = summary_field_member(s, f);

	*member = value_read_int32(v);
	s->has_status |= json_is_integer(v);
	return json_is_integer(v);
}

static bool field_read_object(struct summary *s, const struct summary_field *f, const json_t *o)
{
	const json_t *v = json_object_get(o, f->key);

	summary_fields_read(s, f->opens, v);
	return json_is_object(v);
}

static bool field_read_losses(struct summary *s, const struct summary_field *f, const json_t *o)
{
	bool is_complete = s->complete;
	const char *name;
	uint64_t count;
	json_t *v;

	json_object_foreach(json_object_get(o, f->key), name, v)
		if (value_read_number(v, 0, &count))
			summary_add_loss(s, name, count);
	s->complete = is_complete; /* the line has that itself */
	return true;
}

static bool field_read_limit(struct summary *s, const struct summary_field *f, const json_t *o)
{
	return limit_hit_read(&s->limit, json_object_get(o, f->key));
}

static bool field_read_bounds(struct summary *s, const struct summary_field *f, const json_t *o)
{
	json_t *found = json_object_get(o, f->key), *v;
	enum metric_id id;
	const char *key;

	s->bounds.is_from_proc = json_object_get(found, "rss_peak_bytes");
	s->bounds.has_all_processes = !json_object_get(found, "processes_total");
	json_object_foreach(found, key, v)
		if (json_is_string(v) && !strcmp(json_string_value(v), "at_least") &&
		    !metric_find(key, strlen(key), &id))
			metric_put(&s->bounds.counters, id);
	return found;
}

static bool field_read_oom(struct summary *s, const struct summary_field *f, const json_t *o)
{
	const json_t *k = json_object_get(o, f->key);
	const char *cgroup = json_string_value(json_object_get(k, "cgroup"));

	s->oom.pid = value_read_int32(json_object_get(k, "pid"));
	comm_read(s->oom.comm, k);
	s->oom.is_command = json_is_true(json_object_get(k, "is_command"));
	s->oom.has_rss = member_read_bytes(k, "rss_bytes", &s->oom.rss_bytes);
	s->oom.limit_bytes = member_read_number(k, "limit_bytes", 0);
	snprintf(s->oom.cgroup, sizeof(s->oom.cgroup), "%s", cgroup ? cgroup : "");
	return k;
}

static bool field_read_counters(struct summary *s, const struct summary_field *f, const json_t *o)
{
	(void)f;
	metrics_read((json_t *)o, s->total.value, &s->total.have);
	return true;
}

static bool field_read_instances(struct summary *s, const struct summary_field *f, const json_t *o)
{
	instances_read(json_object_get(o, f->key), &s->total);
	return s->total.nr_instances;
}

static void latency_read(struct block_latency *l, const json_t *pairs)
{
	uint64_t upper_ns, count;
	unsigned bucket;
	json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
		if (value_read_number(json_array_get(pair, 0), 0, &upper_ns) &&
		    !latency_bucket_find(upper_ns, &bucket) &&
		    value_read_number(json_array_get(pair, 1), 0, &count))
			l->count[bucket] = count;
}

static bool field_read_latencies(struct summary *s, const struct summary_field *f, const json_t *o)
{
	const char *device, *name;
	struct block_latency *l;
	json_t *of_device, *v;
	unsigned direction;

	json_object_foreach(json_object_get(o, f->key), device, of_device) {
		if (strlen(device) >= INSTANCE_BYTES)
			continue;
		json_object_foreach(of_device, name, v) {
			if (latency_direction_find(name, &direction))
				continue;
			l = latencies_get(&s->latencies, device, direction);
			if (l)
				latency_read(l, v);
		}
	}
	return s->latencies.nr;
}

static bool field_read_holders(struct summary *s, const struct summary_field *f, const json_t *o)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, f->key), i, v) {
		struct holder h = {
			.pid = value_read_int32(json_object_get(v, "pid")),
			.exe = (char *)json_string_value(json_object_get(v, "exe")),
			.rss_bytes = member_read_number(v, "rss_bytes", 0),
		};

		comm_read(h.comm, v);
		holders_add(&s->holders, &h);
	}
	return true;
}

/* Beside those of a line that has more holders than there is room for. */
static bool field_read_others(struct summary *s, const struct summary_field *f, const json_t *o)
{
	const json_t *others = json_object_get(o, f->key);

	s->holders.others += member_read_number(others, "processes", 0);
	s->holders.others_bytes += member_read_number(others, "rss_bytes", 0);
	return others;
}

static bool field_read_programs(struct summary *s, const struct summary_field *f, const json_t *o)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, f->key), i, v) {
		const char *exe = json_string_value(json_object_get(v, "exe"));
		struct program *p = summary_append_program(s, exe);

		if (!p)
			continue;
		p->processes = member_read_number(v, "processes", 0);
		p->has_rss_peak = member_read_bytes(v, "rss_peak_bytes", &p->rss_peak_bytes);
		p->rss_peak_exact = json_is_true(json_object_get(v, "rss_peak_exact"));
		usage_read(v, p->value, &p->have);
	}
	return true;
}

static read_fn *const field_readers[NR_SUMMARY_TYPES] = {
	[TYPE_NUMBER] = summary_field_read_number, [TYPE_DERIVED] = summary_field_read_number,
	[TYPE_TRUTH] = field_read_truth,           [TYPE_TEXT] = summary_field_read_text,
	[TYPE_STATUS] = field_read_status,         [TYPE_OBJECT] = field_read_object,
	[TYPE_LIMIT] = field_read_limit,           [TYPE_BOUNDS] = field_read_bounds,
	[TYPE_LOSSES] = field_read_losses,         [TYPE_OOM] = field_read_oom,
	[TYPE_COUNTERS] = field_read_counters,     [TYPE_HOLDERS] = field_read_holders,
	[TYPE_OTHERS] = field_read_others,         [TYPE_PROGRAMS] = field_read_programs,
	[TYPE_INSTANCES] = field_read_instances,   [TYPE_LATENCIES] = field_read_latencies,
};

/* A member that several rows decide is true where each of them is there. */
static void summary_fields_read(struct summary *s, enum summary_in in, const json_t *o)
{
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		const struct summary_field *f = summary_field_get(i);

		if (f->in == in && !field_readers[f->type](s, f, o) && f->there == THERE_IF_HAS)
			*summary_field_has(s, f) = false;
	}
}

void summary_read_members(struct summary *s, const json_t *o)
{
	summary_done(s);
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++)
		if (summary_field_get(i)->there == THERE_IF_HAS)
			*summary_field_has(s, summary_field_get(i)) = true;
	summary_fields_read(s, IN_LINE, o);
}

void summary_read(struct line *l, json_t *o)
{
	summary_read_members(&l->summary, o);
}

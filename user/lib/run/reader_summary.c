// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the summary line by summary.def, and parts of other lines from a tree: metrics, instances.
 */
#include "run/summary_field.h"
#include "run/limit.h"
#include "run/member_reader.h"
#include "run/reader.h"

#include <stdio.h>
#include <string.h>

static void metric_read(enum metric_id id, const json_t *v, uint64_t *values,
			struct metric_set *have)
{
	if (value_read_number(v, metric_decimals(id), &values[id]))
		metric_put(have, id);
}

/* Reads the usage of a process or group, but not "processes", the size of the group there. */
static void usage_read(json_t *o, uint64_t *values, struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_id id = (enum metric_id)i;

		if (metric_is_of_process(id))
			metric_read(id, json_object_get(o, metric_get(id)->key), values, have);
	}
}

void metrics_read(json_t *o, uint64_t *values, struct metric_set *have)
{
	enum metric_id id;
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
		if (!metric_find(key, strlen(key), &id))
			metric_read(id, v, values, have);
}

/* Reads the values of instances ("by") of samples and summary from the tree. */

/* Returns false for a name without room. It is not truncated, as two names could become equal. */
static bool instance_fits(const char *dimension, const char *name)
{
	return *dimension && strlen(dimension) < DIMENSION_BYTES && strlen(name) < INSTANCE_BYTES;
}

static void dimension_read(const char *dimension, json_t *all, struct sample *s)
{
	struct instance *i;
	const char *name;
	json_t *v;

	json_object_foreach(all, name, v) {
		if (!json_is_object(v) || !instance_fits(dimension, name) ||
		    s->nr_instances == MAX_INSTANCES)
			continue;
		i = sample_add_instance(s, dimension, name);
		if (i)
			metrics_read(v, i->value, &i->have);
	}
}

void instances_read(const json_t *by, struct sample *s)
{
	const char *dimension;
	json_t *all;

	json_object_foreach((json_t *)by, dimension, all)
		dimension_read(dimension, all, s);
}

/* Reads @o, the value, which is NULL if missing. Returns false then. */
typedef bool part_fn(struct summary *s, const json_t *o);

static bool field_read_losses(struct summary *s, const json_t *o)
{
	bool is_complete = s->complete;
	const char *name;
	uint64_t count;
	json_t *v;

	json_object_foreach((json_t *)o, name, v)
		if (value_read_number(v, 0, &count))
			summary_add_loss(s, name, count);
	s->complete = is_complete; /* the line has its own "complete" */
	return true;
}

static bool field_read_limit(struct summary *s, const json_t *o)
{
	return limit_hit_read(&s->limit, o);
}

static bool field_read_bounds(struct summary *s, const json_t *o)
{
	json_t *found = (json_t *)o, *v;
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

static bool field_read_oom(struct summary *s, const json_t *o)
{
	const json_t *k = o;
	const char *cgroup = json_string_value(json_object_get(k, "cgroup"));

	s->oom.pid = value_read_int32(json_object_get(k, "pid"));
	comm_read(s->oom.comm, k);
	s->oom.is_command = json_is_true(json_object_get(k, "is_command"));
	s->oom.has_rss = member_read_bytes(k, "rss_bytes", &s->oom.rss_bytes);
	s->oom.limit_bytes = member_read_number(k, "limit_bytes", 0);
	snprintf(s->oom.cgroup, sizeof(s->oom.cgroup), "%s", cgroup ? cgroup : "");
	return k;
}

static bool field_read_instances(struct summary *s, const json_t *o)
{
	instances_read(o, &s->total);
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

static bool field_read_latencies(struct summary *s, const json_t *o)
{
	const char *device, *name;
	struct block_latency *l;
	json_t *of_device, *v;
	unsigned direction;

	json_object_foreach((json_t *)o, device, of_device) {
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

static bool field_read_holders(struct summary *s, const json_t *o)
{
	json_t *v;
	size_t i;

	json_array_foreach(o, i, v) {
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

/* Adds to the count, which may already include holders of the line without room. */
static bool field_read_others(struct summary *s, const json_t *o)
{
	const json_t *others = o;

	s->holders.others += member_read_number(others, "processes", 0);
	s->holders.others_bytes += member_read_number(others, "rss_bytes", 0);
	return others;
}

static bool field_read_programs(struct summary *s, const json_t *o)
{
	json_t *v;
	size_t i;

	json_array_foreach(o, i, v) {
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

static part_fn *const part_readers[NR_MEMBER_TYPES] = {
	[TYPE_LIMIT] = field_read_limit,         [TYPE_BOUNDS] = field_read_bounds,
	[TYPE_LOSSES] = field_read_losses,       [TYPE_OOM] = field_read_oom,
	[TYPE_HOLDERS] = field_read_holders,     [TYPE_OTHERS] = field_read_others,
	[TYPE_PROGRAMS] = field_read_programs,   [TYPE_INSTANCES] = field_read_instances,
	[TYPE_LATENCIES] = field_read_latencies,
};

static bool summary_read_part(struct reading *r, void *of, const struct member *m, const json_t *v)
{
	(void)r;
	return part_readers[m->type] && part_readers[m->type](of, v);
}

void summary_read_line(struct reading *r, struct summary *s)
{
	struct metric_set all;
	const struct target t = { &summary_members, IN_LINE, s, &all, summary_read_part, NULL };

	metric_set_all(&all);
	summary_done(s);
	members_read(r, &t);
}

void summary_read_members(struct summary *s, json_t *o)
{
	struct metric_set all;
	const struct target t = { &summary_members, IN_LINE, s, &all, summary_read_part, NULL };
	struct reading r = { .tree = o };

	metric_set_all(&all);
	summary_done(s);
	members_read_tree(&r, &t);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/writer.h"

#include "run/limit.h"
#include "run/summary_field.h"

#include <string.h>

void epoch_write(struct jsonw *j, const char *key, uint64_t ns)
{
	jsonw_decimal(j, key, ns / 1000, 6);
}

void metric_write(struct jsonw *j, enum metric_id id, uint64_t value)
{
	jsonw_decimal(j, metric_get(id)->key, value, metric_decimals(id));
}

void metrics_write(struct jsonw *j, const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			metric_write(j, (enum metric_id)i, value[i]);
}

static void oom_write(struct jsonw *j, const struct oom_kill *k)
{
	jsonw_int(j, "pid", k->pid);
	jsonw_bytes(j, "comm", k->comm, strlen(k->comm));
	jsonw_bool(j, "is_command", k->is_command);
	if (k->has_rss)
		jsonw_uint(j, "rss_bytes", k->rss_bytes);
	if (k->limit_bytes) {
		jsonw_uint(j, "limit_bytes", k->limit_bytes);
		jsonw_string(j, "cgroup", k->cgroup);
	}
}

void line_end(struct jsonw *j)
{
	if (j->lossy)
		jsonw_bool(j, "lossy", true);
	j->lossy = false;
	jsonw_object_end(j);
	jsonw_newline(j);
}

/* Begins a line of @kind. @run is the id of its run in a stream of several runs, or NULL. */
static void kind_begin(struct jsonw *j, const char *kind, const char *run)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", kind);
	if (run)
		jsonw_string(j, "run", run);
}

/* Writes the instances under the key "by", or nothing if there are none. */
static void instances_write(struct jsonw *j, const struct sample *s)
{
	const char *open = NULL;

	if (!s->nr_instances)
		return;
	jsonw_object(j, "by");
	for (size_t i = 0; i < s->nr_instances; i++) {
		const struct instance *inst = &s->instances[i];

		if (!open || strcmp(open, inst->dimension) != 0) {
			if (open)
				jsonw_object_end(j);
			jsonw_object(j, inst->dimension);
			open = inst->dimension;
		}
		jsonw_object(j, inst->name);
		metrics_write(j, inst->value, &inst->have);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
	jsonw_object_end(j);
}

void args_write(struct jsonw *j, const char *key, const struct process *p)
{
	const char *end = p->args + p->args_length;

	jsonw_array(j, key);
	for (const char *a = p->args; a < end;) {
		size_t n = strnlen(a, (size_t)(end - a));

		jsonw_bytes(j, NULL, a, n);
		a += n + 1;
	}
	jsonw_array_end(j);
}

static void tags_write(struct jsonw *j, const char *key, const struct span_label *label)
{
	jsonw_pairs(j, key, label->tags, label->nr_tags);
}

static void member_write(struct jsonw *j, const void *of, const struct member *m)
{
	const void *at = member_get(of, m);

	switch (m->type) {
	case TYPE_NUMBER:
		jsonw_decimal(j, m->key, *(const uint64_t *)at, metric_unit_decimals(m->unit));
		break;
	case TYPE_UINT:
		jsonw_uint(j, m->key, *(const uint32_t *)at);
		break;
	case TYPE_INT:
	case TYPE_STATUS:
		jsonw_int(j, m->key, *(const int32_t *)at);
		break;
	case TYPE_TIME:
		epoch_write(j, m->key, *(const uint64_t *)at);
		break;
	case TYPE_TRUTH:
		jsonw_bool(j, m->key, *(const bool *)at);
		break;
	case TYPE_TEXT:
		jsonw_string(j, m->key, at);
		break;
	case TYPE_STRING:
		jsonw_string(j, m->key, *(const char *const *)at);
		break;
	case TYPE_COMM:
		jsonw_bytes(j, m->key, at, strlen(at));
		break;
	case TYPE_STATE:
		jsonw_bytes(j, m->key, *(const char *)at ? at : "?", 1);
		break;
	case TYPE_ARGS:
		args_write(j, m->key, of);
		break;
	case TYPE_LOSSY:
		j->lossy |= *(const bool *)at;
		break;
	default:
		break;
	}
}

static bool member_is_null(const void *of, const struct member *m)
{
	if (m->type == TYPE_STATUS)
		return !member_is_status(of, m);
	if (m->there == THERE_HAS_OR_NULL && !*(const bool *)((const char *)of + m->has))
		return true;
	return (m->there == THERE_OR_NULL || m->there == THERE_HAS_OR_NULL) &&
	       !member_is_set(of, m);
}

/* Writes the members of the table that the struct @of has, and its metrics. */
static void members_write(struct jsonw *j, const struct member_table *t, const void *of)
{
	for (const struct member *m = t->rows; m < t->rows + t->nr; m++) {
		if (!member_is_there(of, m))
			continue;
		if (m->type == TYPE_COUNTERS)
			metrics_write(j, (const uint64_t *)((const char *)of + t->value),
				      (const struct metric_set *)((const char *)of + t->have));
		else if (m->type == TYPE_INSTANCES)
			instances_write(j, of);
		else if (m->type == TYPE_TAGS)
			tags_write(j, m->key, member_get(of, m));
		else if (member_is_null(of, m))
			jsonw_null(j, m->key);
		else
			member_write(j, of, m);
	}
}

void write_process(struct jsonw *j, const struct process *p)
{
	kind_begin(j, "process", NULL);
	members_write(j, &process_members, p);
	line_end(j);
}

static void sample_write_of(struct jsonw *j, const char *run, uint64_t start_epoch_ns,
			    const struct sample *s)
{
	kind_begin(j, "sample", run);
	epoch_write(j, "time", start_epoch_ns + s->elapsed_ns);
	members_write(j, &sample_members, s);
	line_end(j);
}

void write_sample_since(struct jsonw *j, uint64_t start_epoch_ns, const struct sample *s)
{
	sample_write_of(j, NULL, start_epoch_ns, s);
}

void write_sample(struct jsonw *j, const struct run *run, const struct sample *s)
{
	sample_write_of(j, NULL, run->start_epoch_ns, s);
}

void write_node_sample(struct jsonw *j, const struct run *run, const struct sample *s)
{
	sample_write_of(j, run->id, run->start_epoch_ns, s);
}

void write_process_sample(struct jsonw *j, uint64_t start_epoch_ns, const struct process_sample *p)
{
	kind_begin(j, "process_sample", NULL);
	epoch_write(j, "time", start_epoch_ns + p->elapsed_ns);
	members_write(j, &process_sample_members, p);
	line_end(j);
}

/* Summary lines of runs and spans: each row of summary.def is written according to its type. */

static void summary_fields_write(struct jsonw *j, const struct summary *s, enum summary_in in,
				 bool with_programs);

static void field_write_derived(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_decimal(j, f->key, f->get(s), metric_unit_decimals(f->unit));
}

static void field_write_object(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_object(j, f->key);
	summary_fields_write(j, s, f->opens, false);
	jsonw_object_end(j);
}

static void field_write_losses(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_object(j, f->key);
	for (size_t i = 0; i < s->nr_losses; i++)
		jsonw_uint(j, s->losses[i].name, s->losses[i].count);
	jsonw_object_end(j);
}

static void field_write_limit(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_object(j, f->key);
	limit_hit_write(j, &s->limit);
	jsonw_object_end(j);
}

static void field_write_bounds(struct jsonw *j, const struct summary *s, const struct member *f)
{
	static const char at_least[] = "at_least";

	jsonw_object(j, f->key);
	if (s->bounds.is_from_proc && !s->bounds.has_all_processes)
		jsonw_string(j, "processes_total", at_least);
	if (s->bounds.is_from_proc) {
		jsonw_string(j, "process_rss_peak_bytes", at_least);
		jsonw_string(j, "rss_peak_bytes", at_least);
	}
	if (summary_write_is_bound(s) && !metric_has(&s->bounds.counters, M_write))
		jsonw_string(j, metric_get(M_write)->key, "at_most");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&s->bounds.counters, (enum metric_id)i))
			jsonw_string(j, metric_get((enum metric_id)i)->key, at_least);
	jsonw_object_end(j);
}

static void field_write_oom(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_object(j, f->key);
	oom_write(j, &s->oom);
	jsonw_object_end(j);
}

static void field_write_counters(struct jsonw *j, const struct summary *s, const struct member *f)
{
	(void)f;
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&s->total, (enum metric_id)i) &&
		    metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric_write(j, (enum metric_id)i, s->total.value[i]);
}

static void field_write_instances(struct jsonw *j, const struct summary *s, const struct member *f)
{
	(void)f;
	instances_write(j, &s->total);
}

static void latency_write(struct jsonw *j, const struct block_latency *l)
{
	jsonw_array(j, latency_direction_name(l->direction));
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		if (!l->count[i])
			continue;
		jsonw_array(j, NULL);
		jsonw_uint(j, NULL, latency_upper_ns(i));
		jsonw_uint(j, NULL, l->count[i]);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
}

static void field_write_latencies(struct jsonw *j, const struct summary *s, const struct member *f)
{
	const struct block_latency *all = s->latencies.all;

	jsonw_object(j, f->key);
	for (size_t i = 0; i < s->latencies.nr; i++) {
		bool is_first = !i || strcmp(all[i].device, all[i - 1].device) != 0;

		if (is_first && i)
			jsonw_object_end(j);
		if (is_first)
			jsonw_object(j, all[i].device);
		latency_write(j, &all[i]);
	}
	jsonw_object_end(j);
	jsonw_object_end(j);
}

static void field_write_holders(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_array(j, f->key);
	for (size_t i = 0; i < s->holders.nr; i++) {
		const struct holder *h = &s->holders.largest[i];

		jsonw_object(j, NULL);
		jsonw_int(j, "pid", h->pid);
		jsonw_bytes(j, "comm", h->comm, strlen(h->comm));
		jsonw_string(j, "exe", h->exe);
		jsonw_uint(j, "rss_bytes", h->rss_bytes);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void field_write_others(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_object(j, f->key);
	jsonw_uint(j, "processes", s->holders.others);
	jsonw_uint(j, "rss_bytes", s->holders.others_bytes);
	jsonw_object_end(j);
}

static void field_write_programs(struct jsonw *j, const struct summary *s, const struct member *f)
{
	jsonw_array(j, f->key);
	for (size_t i = 0; i < s->nr_programs; i++) {
		const struct program *p = &s->programs[i];

		jsonw_object(j, NULL);
		jsonw_string(j, "exe", p->exe);
		jsonw_uint(j, "processes", p->processes);
		if (p->has_rss_peak) {
			jsonw_uint(j, "rss_peak_bytes", p->rss_peak_bytes);
			jsonw_bool(j, "rss_peak_exact", p->rss_peak_exact);
		}
		metrics_write(j, p->value, &p->have);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

typedef void write_fn(struct jsonw *j, const struct summary *s, const struct member *f);

static write_fn *const field_writers[NR_MEMBER_TYPES] = {
	[TYPE_DERIVED] = field_write_derived,     [TYPE_OBJECT] = field_write_object,
	[TYPE_LIMIT] = field_write_limit,         [TYPE_BOUNDS] = field_write_bounds,
	[TYPE_LOSSES] = field_write_losses,       [TYPE_OOM] = field_write_oom,
	[TYPE_COUNTERS] = field_write_counters,   [TYPE_HOLDERS] = field_write_holders,
	[TYPE_OTHERS] = field_write_others,       [TYPE_PROGRAMS] = field_write_programs,
	[TYPE_INSTANCES] = field_write_instances, [TYPE_LATENCIES] = field_write_latencies,
};

static void summary_fields_write(struct jsonw *j, const struct summary *s, enum summary_in in,
				 bool with_programs)
{
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		const struct member *f = summary_field_get(i);

		if (f->in != in || (!with_programs && f->type == TYPE_PROGRAMS) ||
		    !summary_field_is_there(s, f))
			continue;
		if (field_writers[f->type])
			field_writers[f->type](j, s, f);
		else if (member_is_null(s, f))
			jsonw_null(j, f->key);
		else
			member_write(j, s, f);
	}
}

static void summary_write(struct jsonw *j, const char *run, const struct summary *s)
{
	kind_begin(j, "summary", run);
	summary_fields_write(j, s, IN_LINE, true);
	line_end(j);
}

void write_summary(struct jsonw *j, const struct summary *s)
{
	summary_write(j, NULL, s);
}

void write_node_summary(struct jsonw *j, const struct run *run, const struct summary *s)
{
	summary_write(j, run->id, s);
}

void write_span(struct jsonw *j, const struct span *s)
{
	kind_begin(j, "span", NULL);
	members_write(j, &span_members, s);
	/* its programs are in the records of its processes */
	summary_fields_write(j, &s->used, IN_LINE, false);
	line_end(j);
}

/* Lines of kind event. */

static void event_begin_of(struct jsonw *j, const char *of, const struct run *run,
			   uint64_t elapsed_ns, const char *event)
{
	kind_begin(j, "event", of);
	epoch_write(j, "time", run->start_epoch_ns + elapsed_ns);
	jsonw_string(j, "event", event);
}

static void event_begin(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			const char *event)
{
	event_begin_of(j, NULL, run, elapsed_ns, event);
}

void write_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event,
		 uint64_t count)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_uint(j, "count", count);
	line_end(j);
}

static void stall_write(struct jsonw *j, const char *of, const struct run *run,
			const struct stall_event *e)
{
	event_begin_of(j, of, run, e->elapsed_ns, e->is_stalled ? "stalled" : "resumed");
	epoch_write(j, "since_time", run->start_epoch_ns + e->begun_ns);
	if (e->pids) {
		jsonw_array(j, "pids");
		for (size_t i = 0; i < e->nr_pids; i++)
			jsonw_int(j, NULL, e->pids[i]);
		jsonw_array_end(j);
	}
	line_end(j);
}

void write_stall(struct jsonw *j, const struct run *run, const struct stall_event *e)
{
	stall_write(j, NULL, run, e);
}

void write_node_stall(struct jsonw *j, const struct run *run, const struct stall_event *e)
{
	stall_write(j, run->id, run, e);
}

void write_oom(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
	       const struct oom_kill *k)
{
	event_begin(j, run, elapsed_ns, "oom_kill");
	oom_write(j, k);
	line_end(j);
}

void write_limit(struct jsonw *j, const struct run *run, const struct limit_hit *hit)
{
	event_begin(j, run, hit->elapsed_ns, "limit");
	limit_hit_write(j, hit);
	line_end(j);
}

void write_cgroup_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			const char *event, const char *path)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_string(j, "cgroup", path);
	line_end(j);
}

void write_cgroup_difference(struct jsonw *j, const struct run *run, const struct sample *smp,
			     const char *path)
{
	event_begin(j, run, smp->elapsed_ns, "cgroup_differs");
	jsonw_string(j, "cgroup", path);
	metric_write(j, M_cpu, smp->value[M_cpu]);
	metric_write(j, M_cgroup_cpu, smp->value[M_cgroup_cpu]);
	line_end(j);
}

void write_process_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			 const char *event, int32_t pid, const char *reason)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_int(j, "pid", pid);
	jsonw_string(j, "reason", reason);
	line_end(j);
}

/* Lines for data that programs push: marks and metrics. */

void write_mark(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		const char *text, size_t length)
{
	event_begin(j, run, elapsed_ns, "mark");
	jsonw_decimal(j, "elapsed_seconds", elapsed_ns, 9);
	jsonw_bytes(j, "text", text, length);
	jsonw_int(j, "pid", pid);
	line_end(j);
}

/* Returns a NUL-terminated copy of an untrusted key, as the JSON writer needs. */
static const char *key_copy(char out[POINT_BYTES], const struct piece *s)
{
	size_t n = s->length < POINT_BYTES ? s->length : POINT_BYTES - 1;

	memcpy(out, s->text, n);
	out[n] = '\0';
	return out;
}

static void point_field_write(struct jsonw *j, const char *key, const struct point_field *f)
{
	switch (f->type) {
	case POINT_FLOAT:
		jsonw_double(j, key, f->number);
		break;
	case POINT_INTEGER:
		jsonw_int(j, key, f->integer);
		break;
	case POINT_UNSIGNED:
		if (f->natural <= INT64_MAX)
			jsonw_uint(j, key, f->natural);
		else /* JSON parsers do not read it as an integer */
			jsonw_double(j, key, (double)f->natural);
		break;
	case POINT_BOOLEAN:
		jsonw_bool(j, key, f->is_true);
		break;
	case POINT_STRING:
		jsonw_bytes(j, key, f->string.text, f->string.length);
		break;
	}
}

void write_point(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		 const struct point *p)
{
	char key[POINT_BYTES];

	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "metric");
	epoch_write(j, "time", run->start_epoch_ns + elapsed_ns);
	jsonw_decimal(j, "elapsed_seconds", elapsed_ns, 9);
	jsonw_bytes(j, "name", p->name.text, p->name.length);
	jsonw_object(j, "tags");
	for (size_t i = 0; i < p->nr_tags; i++)
		jsonw_bytes(j, key_copy(key, &p->tags[i].key), p->tags[i].value.text,
			    p->tags[i].value.length);
	jsonw_object_end(j);
	jsonw_object(j, "fields");
	for (size_t i = 0; i < p->nr_fields; i++)
		point_field_write(j, key_copy(key, &p->fields[i].key), &p->fields[i]);
	jsonw_object_end(j);
	if (p->has_time)
		jsonw_decimal(j, "reported_time", p->time_ns, 9);
	if (pid)
		jsonw_int(j, "pid", pid);
	line_end(j);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The lines of the run and of its spans: the rows of summary.def, each written as its type says. */
#include "run/summary_field.h"
#include "run/limits.h"
#include "run/writer_parts.h"
#include "run/writer.h"

#include <string.h>

static void summary_fields_write(struct jsonw *j, const struct summary *s, enum summary_in in,
				 bool with_programs);

static void field_write_number(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
{
	jsonw_decimal(j, f->key, summary_field_number(s, f), metric_unit_decimals(f->unit));
}

static void field_write_truth(struct jsonw *j, const struct summary *s,
			      const struct summary_field *f)
{
	jsonw_bool(j, f->key, *(const bool *)summary_field_value(s, f));
}

static void field_write_text(struct jsonw *j, const struct summary *s,
			     const struct summary_field *f)
{
	jsonw_string(j, f->key, summary_field_value(s, f));
}

static void field_write_status(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
{
	if (summary_field_is_status(s, f))
		jsonw_int(j, f->key, *(const int *)summary_field_value(s, f));
	else
		jsonw_null(j, f->key);
}

static void field_write_object(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
{
	jsonw_object(j, f->key);
	summary_fields_write(j, s, f->opens, false);
	jsonw_object_end(j);
}

static void field_write_losses(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
{
	jsonw_object(j, f->key);
	for (size_t i = 0; i < s->nr_losses; i++)
		jsonw_uint(j, s->losses[i].name, s->losses[i].count);
	jsonw_object_end(j);
}

static void field_write_limit(struct jsonw *j, const struct summary *s,
			      const struct summary_field *f)
{
	jsonw_object(j, f->key);
	limit_hit_write(j, &s->limit);
	jsonw_object_end(j);
}

static void field_write_bounds(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
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

static void field_write_oom(struct jsonw *j, const struct summary *s, const struct summary_field *f)
{
	jsonw_object(j, f->key);
	oom_write(j, &s->oom);
	jsonw_object_end(j);
}

static void field_write_counters(struct jsonw *j, const struct summary *s,
				 const struct summary_field *f)
{
	(void)f;
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&s->total, (enum metric_id)i) &&
		    metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric_write(j, (enum metric_id)i, s->total.value[i]);
}

static void field_write_instances(struct jsonw *j, const struct summary *s,
				  const struct summary_field *f)
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

static void field_write_latencies(struct jsonw *j, const struct summary *s,
				  const struct summary_field *f)
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

static void field_write_holders(struct jsonw *j, const struct summary *s,
				const struct summary_field *f)
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

static void field_write_others(struct jsonw *j, const struct summary *s,
			       const struct summary_field *f)
{
	jsonw_object(j, f->key);
	jsonw_uint(j, "processes", s->holders.others);
	jsonw_uint(j, "rss_bytes", s->holders.others_bytes);
	jsonw_object_end(j);
}

static void field_write_programs(struct jsonw *j, const struct summary *s,
				 const struct summary_field *f)
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

typedef void write_fn(struct jsonw *j, const struct summary *s, const struct summary_field *f);

static write_fn *const field_writers[NR_SUMMARY_TYPES] = {
	[TYPE_NUMBER] = field_write_number,       [TYPE_DERIVED] = field_write_number,
	[TYPE_TRUTH] = field_write_truth,         [TYPE_TEXT] = field_write_text,
	[TYPE_STATUS] = field_write_status,       [TYPE_OBJECT] = field_write_object,
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
		const struct summary_field *f = summary_field_get(i);

		if (f->in == in && (with_programs || f->type != TYPE_PROGRAMS) &&
		    summary_field_is_there(s, f))
			field_writers[f->type](j, s, f);
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
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "span");
	jsonw_uint(j, "id", s->id);
	if (s->parent)
		jsonw_uint(j, "parent", s->parent);
	jsonw_string(j, "name", s->label.name);
	jsonw_pairs(j, "tags", s->label.tags, s->label.nr_tags);
	jsonw_int(j, "pid", s->pid);
	if (s->in_place)
		jsonw_bool(j, "in_place", true);
	epoch_write(j, "start_time", s->start_epoch_ns);
	if (s->end_epoch_ns)
		epoch_write(j, "end_time", s->end_epoch_ns);
	else
		jsonw_null(j, "end_time");
	/* its programs are in the records of its processes */
	summary_fields_write(j, &s->used, IN_LINE, false);
	line_end(j);
}

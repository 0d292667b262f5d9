// SPDX-License-Identifier: BSD-2-Clause
/* Writes the summary line. */
#include "wire/parts.h"
#include "wire/writer.h"

#include <string.h>

static void programs(struct json *j, const struct summary *s)
{
	jw_array(j, "programs");
	for (size_t i = 0; i < s->nr_programs; i++) {
		const struct program *p = &s->programs[i];

		jw_object(j, NULL);
		jw_string(j, "exe", p->exe);
		jw_uint(j, "processes", p->processes);
		if (p->has_rss_peak) {
			jw_uint(j, "rss_peak_bytes", p->rss_peak_bytes);
			jw_bool(j, "rss_peak_exact", p->rss_peak_exact);
		}
		put_metrics(j, p->value, &p->have);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void role(struct json *j, const char *name, const struct role_cost *cost)
{
	jw_object(j, name);
	jw_decimal(j, "cpu_seconds", cost->cpu_ns, 9);
	if (cost->rss_bytes)
		jw_uint(j, "rss_bytes", cost->rss_bytes);
	jw_object_end(j);
}

static void pss_cost(struct json *j, const struct pss_cost *c)
{
	jw_object(j, "pss");
	jw_uint(j, "reads", c->reads);
	jw_uint(j, "postponed", c->postponed);
	jw_uint(j, "skipped", c->skipped);
	jw_decimal(j, "seconds", c->ns_total, 9);
	jw_decimal(j, "seconds_max", c->ns_max, 9);
	jw_object_end(j);
}

static void self(struct json *j, const struct summary *s)
{
	jw_object(j, "self");
	jw_decimal(j, "cpu_seconds", s->collector.cpu_ns + s->recorder.cpu_ns, 9);
	if (s->collector.rss_bytes && s->recorder.rss_bytes)
		jw_uint(j, "rss_bytes", s->collector.rss_bytes + s->recorder.rss_bytes);
	role(j, "collector", &s->collector);
	role(j, "recorder", &s->recorder);
	jw_uint(j, "map_bytes", s->map_bytes);
	jw_uint(j, "drains", s->drains);
	jw_decimal(j, "drain_seconds_mean", s->drains ? s->drain_ns_total / s->drains : 0, 9);
	jw_decimal(j, "drain_seconds_median", s->drain_ns_median, 9);
	jw_decimal(j, "drain_seconds_max", s->drain_ns_max, 9);
	jw_uint(j, "repaired", s->repaired);
	if (s->has_pss_cost)
		pss_cost(j, &s->pss);
	jw_object_end(j);
}

static void pushed(struct json *j, const struct pushed_counts *c)
{
	jw_object(j, "pushed");
	jw_uint(j, "marks", c->marks);
	jw_uint(j, "metrics", c->metrics);
	jw_uint(j, "dropped", c->dropped);
	jw_uint(j, "refused", c->refused);
	jw_uint(j, "malformed", c->malformed);
	jw_object_end(j);
}

static void status(struct json *j, const struct summary *s)
{
	if (s->has_status && !s->signal)
		jw_int(j, "exit_code", s->exit_code);
	else
		jw_null(j, "exit_code");
	if (s->has_status && s->signal)
		jw_int(j, "signal", s->signal);
	else
		jw_null(j, "signal");
}

static void holders(struct json *j, const struct holders *all)
{
	jw_array(j, "rss_peak_holders");
	for (size_t i = 0; i < all->nr; i++) {
		const struct holder *h = &all->largest[i];

		jw_object(j, NULL);
		jw_int(j, "pid", h->pid);
		jw_bytes(j, "comm", h->comm, strlen(h->comm));
		jw_string(j, "exe", h->exe);
		jw_uint(j, "rss_bytes", h->rss_bytes);
		jw_object_end(j);
	}
	jw_array_end(j);
	jw_object(j, "rss_peak_others");
	jw_uint(j, "processes", all->others);
	jw_uint(j, "rss_bytes", all->others_bytes);
	jw_object_end(j);
}

static void peaks(struct json *j, const struct summary *s)
{
	if (s->has_process_rss_peak) {
		jw_uint(j, "process_rss_peak_bytes", s->process_rss_peak_bytes);
		jw_bool(j, "process_rss_peak_exact", s->process_rss_peak_exact);
	}
	if (s->has_rss_peak) {
		jw_uint(j, "rss_peak_bytes", s->rss_peak_bytes);
		jw_decimal(j, "rss_peak_elapsed_seconds", s->rss_peak_elapsed_ns, 9);
	}
	if (s->has_rss_peak_upper)
		jw_uint(j, "rss_peak_upper_bytes", s->rss_peak_upper_bytes);
	if (s->marks_reset)
		jw_bool(j, "marks_reset", true);
	if (s->has_rss_peak_exact) {
		jw_uint(j, "rss_peak_exact_bytes", s->rss_peak_exact_bytes);
		jw_decimal(j, "rss_peak_exact_elapsed_seconds", s->rss_peak_exact_elapsed_ns, 9);
		holders(j, &s->holders);
	}
	if (s->has_hugetlb_peak)
		jw_uint(j, "hugetlb_peak_bytes", s->hugetlb_peak_bytes);
	if (s->has_pss_peak) {
		jw_uint(j, "pss_peak_bytes", s->pss_peak_bytes);
		jw_decimal(j, "pss_peak_elapsed_seconds", s->pss_peak_elapsed_ns, 9);
	}
	if (s->has_uss_peak)
		jw_uint(j, "uss_peak_bytes", s->uss_peak_bytes);
	if (s->has_cgroup_peak)
		jw_uint(j, "cgroup_peak_bytes", s->cgroup_peak_bytes);
	if (s->has_cgroup_split) {
		jw_uint(j, "cgroup_peak_anon_bytes", s->cgroup_peak_anon_bytes);
		jw_uint(j, "cgroup_peak_file_bytes", s->cgroup_peak_file_bytes);
	}
	if (sample_has(&s->total, M_cpu)) {
		jw_decimal(j, "cores_mean", summary_cores_mean(s), 3);
		if (s->cores_peak || summary_is_collectors(s))
			jw_decimal(j, "cores_peak", s->cores_peak, 3);
	}
}

/* A 0 says something only where the collector tells it: else nobody has counted. */
static void put_count(struct json *j, const struct summary *s, const char *key, uint64_t v)
{
	if (v || summary_is_collectors(s))
		jw_uint(j, key, v);
}

void write_summary(struct json *j, const struct summary *s)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "summary");
	jw_bool(j, "complete", s->complete);
	if (s->reason[0])
		jw_string(j, "reason", s->reason);
	jw_object(j, "losses");
	for (size_t i = 0; i < s->nr_losses; i++)
		jw_uint(j, s->losses[i].name, s->losses[i].count);
	jw_object_end(j);
	if (s->is_attached)
		jw_bool(j, "attached", true);
	status(j, s);
	if (s->wall_ns || s->samples || summary_is_collectors(s))
		jw_decimal(j, "wall_seconds", s->wall_ns, 9);
	put_count(j, s, "outlived", s->outlived);
	if (s->by_cgroup) {
		jw_uint(j, "entered", s->entered);
		jw_uint(j, "left", s->left);
		jw_decimal(j, "cpu_uncertain_seconds", s->cpu_unsure_ns, 9);
	}
	jw_uint(j, "samples", s->samples);
	put_count(j, s, "late_ticks", s->late_ticks);
	if (s->has_oom_kills)
		jw_uint(j, "oom_kills", s->oom_kills);
	if (s->oom_kills) {
		jw_object(j, "oom");
		put_oom(j, &s->oom);
		jw_object_end(j);
	}
	if (s->has_pushed)
		pushed(j, &s->pushed);
	put_count(j, s, "processes_total", s->processes_total);
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&s->total, (enum metric_id)i) &&
		    metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			put_metric(j, (enum metric_id)i, s->total.value[i]);
	peaks(j, s);
	programs(j, s);
	if (summary_is_collectors(s))
		self(j, s);
	put_end(j);
}

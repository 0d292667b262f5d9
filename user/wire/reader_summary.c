// SPDX-License-Identifier: BSD-2-Clause
/* Reads the summary line. */
#include "wire/reader_parts.h"

#include <stdio.h>

static void read_role(struct role_cost *cost, const json_t *self, const char *name)
{
	const json_t *o = json_object_get(self, name);

	cost->cpu_ns = json_number_of(o, "cpu_seconds", 9);
	cost->rss_bytes = json_number_of(o, "rss_bytes", 0);
}

static void read_program(struct summary *s, json_t *o)
{
	struct program *p = summary_append_program(s, json_string_value(json_object_get(o, "exe")));

	if (!p)
		return;
	p->processes = json_number_of(o, "processes", 0);
	p->has_rss_peak = read_peak(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	read_usage(o, p->value, &p->have);
}

static void read_holders(struct holders *all, json_t *o)
{
	const json_t *others = json_object_get(o, "rss_peak_others");
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, "rss_peak_holders"), i, v) {
		struct holder h = {
			.pid = json_int32(json_object_get(v, "pid")),
			.exe = (char *)json_string_value(json_object_get(v, "exe")),
			.rss_bytes = json_number_of(v, "rss_bytes", 0),
		};

		read_comm(h.comm, v);
		holders_add(all, &h);
	}
	all->others += json_number_of(others, "processes", 0);
	all->others_bytes += json_number_of(others, "rss_bytes", 0);
}

static void read_oom(struct summary *s, const json_t *o)
{
	const json_t *k = json_object_get(o, "oom");
	const char *cgroup = json_string_value(json_object_get(k, "cgroup"));

	s->has_oom_kills = json_object_get(o, "oom_kills");
	s->oom_kills = json_number_of(o, "oom_kills", 0);
	s->oom.pid = json_int32(json_object_get(k, "pid"));
	read_comm(s->oom.comm, k);
	s->oom.is_command = json_is_true(json_object_get(k, "is_command"));
	s->oom.has_rss = read_peak(k, "rss_bytes", &s->oom.rss_bytes);
	s->oom.limit_bytes = json_number_of(k, "limit_bytes", 0);
	snprintf(s->oom.cgroup, sizeof(s->oom.cgroup), "%s", cgroup ? cgroup : "");
}

static void read_pss_cost(struct summary *s, const json_t *o)
{
	s->has_pss_cost = json_is_object(o);
	s->pss.reads = json_number_of(o, "reads", 0);
	s->pss.postponed = json_number_of(o, "postponed", 0);
	s->pss.skipped = json_number_of(o, "skipped", 0);
	s->pss.ns_total = json_number_of(o, "seconds", 9);
	s->pss.ns_max = json_number_of(o, "seconds_max", 9);
}

static void read_pushed(struct summary *s, const json_t *o)
{
	s->has_pushed = json_is_object(o);
	s->pushed.marks = json_number_of(o, "marks", 0);
	s->pushed.metrics = json_number_of(o, "metrics", 0);
	s->pushed.dropped = json_number_of(o, "dropped", 0);
	s->pushed.refused = json_number_of(o, "refused", 0);
	s->pushed.malformed = json_number_of(o, "malformed", 0);
}

static void read_self(struct summary *s, const json_t *self)
{
	read_role(&s->collector, self, "collector");
	read_role(&s->recorder, self, "recorder");
	s->map_bytes = json_number_of(self, "map_bytes", 0);
	s->drains = json_number_of(self, "drains", 0);
	if (__builtin_mul_overflow(json_number_of(self, "drain_seconds_mean", 9), s->drains,
				   &s->drain_ns_total))
		s->drain_ns_total = UINT64_MAX;
	s->drain_ns_median = json_number_of(self, "drain_seconds_median", 9);
	s->drain_ns_max = json_number_of(self, "drain_seconds_max", 9);
	s->repaired = json_number_of(self, "repaired", 0);
	read_pss_cost(s, json_object_get(self, "pss"));
}

void read_summary(struct line *l, json_t *o)
{
	struct summary *s = &l->summary;
	const char *key, *reason = json_string_value(json_object_get(o, "reason"));
	const json_t *code = json_object_get(o, "exit_code");
	const json_t *signal = json_object_get(o, "signal");
	uint64_t count;
	json_t *v;
	size_t i;

	summary_done(s);
	snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
	json_object_foreach(json_object_get(o, "losses"), key, v)
		if (json_scaled(v, 0, &count))
			summary_add_loss(s, key, count);
	s->complete = json_is_true(json_object_get(o, "complete"));
	s->is_attached = json_is_true(json_object_get(o, "attached"));
	s->has_status = json_is_integer(code) || json_is_integer(signal);
	s->exit_code = json_int32(code);
	s->signal = json_int32(signal);
	s->wall_ns = json_number_of(o, "wall_seconds", 9);
	s->outlived = json_number_of(o, "outlived", 0);
	s->by_cgroup = json_is_integer(json_object_get(o, "entered"));
	s->entered = json_number_of(o, "entered", 0);
	s->left = json_number_of(o, "left", 0);
	s->cpu_unsure_ns = json_number_of(o, "cpu_uncertain_seconds", 9);
	s->samples = json_number_of(o, "samples", 0);
	s->late_ticks = json_number_of(o, "late_ticks", 0);
	s->processes_total = json_number_of(o, "processes_total", 0);
	read_metrics(o, s->total.value, &s->total.have);
	s->has_process_rss_peak =
		read_peak(o, "process_rss_peak_bytes", &s->process_rss_peak_bytes);
	s->process_rss_peak_exact = json_is_true(json_object_get(o, "process_rss_peak_exact"));
	s->has_rss_peak = read_peak(o, "rss_peak_bytes", &s->rss_peak_bytes);
	s->rss_peak_elapsed_ns = json_number_of(o, "rss_peak_elapsed_seconds", 9);
	s->has_rss_peak_upper = read_peak(o, "rss_peak_upper_bytes", &s->rss_peak_upper_bytes);
	s->marks_reset = json_is_true(json_object_get(o, "marks_reset"));
	s->has_rss_peak_exact = read_peak(o, "rss_peak_exact_bytes", &s->rss_peak_exact_bytes);
	s->rss_peak_exact_elapsed_ns = json_number_of(o, "rss_peak_exact_elapsed_seconds", 9);
	s->has_hugetlb_peak = read_peak(o, "hugetlb_peak_bytes", &s->hugetlb_peak_bytes);
	read_holders(&s->holders, o);
	read_oom(s, o);
	read_pushed(s, json_object_get(o, "pushed"));
	s->has_pss_peak = read_peak(o, "pss_peak_bytes", &s->pss_peak_bytes);
	s->pss_peak_elapsed_ns = json_number_of(o, "pss_peak_elapsed_seconds", 9);
	s->has_uss_peak = read_peak(o, "uss_peak_bytes", &s->uss_peak_bytes);
	s->has_cgroup_peak = read_peak(o, "cgroup_peak_bytes", &s->cgroup_peak_bytes);
	s->has_cgroup_split = read_peak(o, "cgroup_peak_anon_bytes", &s->cgroup_peak_anon_bytes) &&
			      read_peak(o, "cgroup_peak_file_bytes", &s->cgroup_peak_file_bytes);
	s->cores_peak = json_number_of(o, "cores_peak", 3);
	json_array_foreach(json_object_get(o, "programs"), i, v)
		read_program(s, v);
	read_self(s, json_object_get(o, "self"));
}

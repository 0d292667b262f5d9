// SPDX-License-Identifier: BSD-2-Clause
#include "wire/writer.h"

#include <string.h>

/* Epochs are published in microseconds. */
static void epoch(struct json *j, const char *key, uint64_t ns)
{
	jw_decimal(j, key, ns / 1000, 6);
}

static void metric(struct json *j, enum metric_id id, uint64_t value)
{
	jw_decimal(j, metric_get(id)->key, value, metric_decimals(id));
}

static void metrics(struct json *j, const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			metric(j, (enum metric_id)i, value[i]);
}

static void units_and_capabilities(struct json *j, const struct run *run)
{
	jw_object(j, "units");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&run->wanted, (enum metric_id)i))
			jw_string(j, metric_get((enum metric_id)i)->key,
				  metric_unit_name(metric_get((enum metric_id)i)->unit));
	jw_object_end(j);
	jw_object(j, "capabilities");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&run->wanted, (enum metric_id)i))
			continue;
		jw_object(j, metric_get((enum metric_id)i)->key);
		jw_bool(j, "available", metric_has(&run->usable, (enum metric_id)i));
		if (!metric_has(&run->usable, (enum metric_id)i))
			jw_string(j, "reason", run->unusable[i]);
		jw_object_end(j);
	}
	jw_object_end(j);
}

static void finish(struct json *j)
{
	if (j->lossy)
		jw_bool(j, "lossy", true);
	j->lossy = false;
	jw_object_end(j);
	jw_newline(j);
}

void write_meta(struct json *j, const struct run *run)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "meta");
	jw_string(j, "schema", "bpfmon/1");
	jw_string(j, "version", BPFMON_VERSION);
	jw_string(j, "run", run->id);
	jw_null(j, "name");
	if (run->command) {
		jw_array(j, "command");
		for (char *const *arg = run->command; *arg; arg++)
			jw_string(j, NULL, *arg);
		jw_array_end(j);
	}
	jw_string(j, "cwd", run->cwd[0] ? run->cwd : NULL);
	jw_string(j, "user", run->user);
	jw_uint(j, "uid", run->uid);
	jw_string(j, "host", run->host);
	epoch(j, "start_time", run->start_epoch_ns);
	jw_decimal(j, "interval_seconds", run->interval_ns, 9);
	jw_object(j, "tags");
	jw_object_end(j);
	jw_object(j, "system");
	jw_uint(j, "cpus", run->cpus);
	jw_uint(j, "memory_bytes", run->memory_bytes);
	jw_string(j, "kernel", run->kernel);
	jw_object_end(j);
	units_and_capabilities(j, run);
	finish(j);
}

static void instances(struct json *j, const struct sample *s)
{
	const char *open = NULL;

	if (!s->nr_instances)
		return;
	jw_object(j, "by");
	for (size_t i = 0; i < s->nr_instances; i++) {
		const struct instance *inst = &s->instances[i];

		if (!open || strcmp(open, inst->dimension) != 0) {
			if (open)
				jw_object_end(j);
			jw_object(j, inst->dimension);
			open = inst->dimension;
		}
		jw_object(j, inst->name);
		metrics(j, inst->value, &inst->have);
		jw_object_end(j);
	}
	jw_object_end(j);
	jw_object_end(j);
}

void write_sample(struct json *j, const struct run *run, const struct sample *s)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "sample");
	epoch(j, "time", run->start_epoch_ns + s->elapsed_ns);
	jw_decimal(j, "elapsed_seconds", s->elapsed_ns, 9);
	metrics(j, s->value, &s->have);
	instances(j, s);
	finish(j);
}

static void args(struct json *j, const struct process *p)
{
	const char *end = p->args + p->args_length;

	jw_array(j, "args");
	for (const char *a = p->args; a < end;) {
		size_t n = strnlen(a, (size_t)(end - a));

		jw_bytes(j, NULL, a, n);
		a += n + 1;
	}
	jw_array_end(j);
	if (p->args_cut)
		jw_bool(j, "args_cut", true);
}

void write_process(struct json *j, const struct process *p)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "process");
	jw_int(j, "pid", p->pid);
	jw_int(j, "ns_pid", p->ns_pid);
	jw_int(j, "ppid", p->ppid);
	jw_uint(j, "uid", p->uid);
	jw_bytes(j, "comm", p->comm, strnlen(p->comm, sizeof(p->comm)));
	jw_string(j, "exe", p->exe);
	if (p->args)
		args(j, p);
	epoch(j, "start_time", p->start_epoch_ns);
	if (p->has_ended && p->end_epoch_ns)
		epoch(j, "end_time", p->end_epoch_ns);
	else
		jw_null(j, "end_time");
	if (p->has_ended && !p->signal)
		jw_int(j, "exit_code", p->exit_code);
	else
		jw_null(j, "exit_code");
	if (p->has_ended && p->signal)
		jw_int(j, "signal", p->signal);
	else
		jw_null(j, "signal");
	if (!p->has_ended)
		jw_bytes(j, "state", p->state ? &p->state : "?", 1);
	jw_uint(j, "threads_total", p->threads_total);
	jw_uint(j, "execs", p->execs);
	if (p->has_rss_peak) {
		jw_uint(j, "rss_peak_bytes", p->rss_peak_bytes);
		jw_bool(j, "rss_peak_exact", p->rss_peak_exact);
	}
	metrics(j, p->value, &p->have);
	finish(j);
}

void write_event(struct json *j, const struct run *run, uint64_t elapsed_ns, const char *event,
		 uint64_t count)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "event");
	epoch(j, "time", run->start_epoch_ns + elapsed_ns);
	jw_string(j, "event", event);
	jw_uint(j, "count", count);
	finish(j);
}

static void oom(struct json *j, const struct oom_kill *k)
{
	jw_int(j, "pid", k->pid);
	jw_bytes(j, "comm", k->comm, strnlen(k->comm, sizeof(k->comm)));
	jw_bool(j, "is_command", k->is_command);
	if (k->has_rss)
		jw_uint(j, "rss_bytes", k->rss_bytes);
	if (k->limit_bytes) {
		jw_uint(j, "limit_bytes", k->limit_bytes);
		jw_string(j, "cgroup", k->cgroup);
	}
}

void write_oom(struct json *j, const struct run *run, uint64_t elapsed_ns, const struct oom_kill *k)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "event");
	epoch(j, "time", run->start_epoch_ns + elapsed_ns);
	jw_string(j, "event", "oom_kill");
	oom(j, k);
	finish(j);
}

void write_process_event(struct json *j, const struct run *run, uint64_t elapsed_ns,
			 const char *event, int32_t pid, const char *reason)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "event");
	epoch(j, "time", run->start_epoch_ns + elapsed_ns);
	jw_string(j, "event", event);
	jw_int(j, "pid", pid);
	jw_string(j, "reason", reason);
	finish(j);
}

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
		metrics(j, p->value, &p->have);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void role(struct json *j, const char *name, const struct role_cost *cost)
{
	jw_object(j, name);
	jw_decimal(j, "cpu_seconds", cost->cpu_ns, 9);
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
		jw_bytes(j, "comm", h->comm, strnlen(h->comm, sizeof(h->comm)));
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
	if (s->has_rss_peak_exact) {
		jw_uint(j, "rss_peak_exact_bytes", s->rss_peak_exact_bytes);
		jw_decimal(j, "rss_peak_exact_elapsed_seconds", s->rss_peak_exact_elapsed_ns, 9);
		holders(j, &s->holders);
	}
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
		jw_decimal(j, "cores_peak", s->cores_peak, 3);
	}
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
	jw_decimal(j, "wall_seconds", s->wall_ns, 9);
	jw_uint(j, "outlived", s->outlived);
	jw_uint(j, "samples", s->samples);
	jw_uint(j, "late_ticks", s->late_ticks);
	jw_uint(j, "oom_kills", s->oom_kills);
	if (s->oom_kills) {
		jw_object(j, "oom");
		oom(j, &s->oom);
		jw_object_end(j);
	}
	jw_uint(j, "processes_total", s->processes_total);
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&s->total, (enum metric_id)i) &&
		    metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric(j, (enum metric_id)i, s->total.value[i]);
	peaks(j, s);
	programs(j, s);
	self(j, s);
	finish(j);
}

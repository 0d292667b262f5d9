// SPDX-License-Identifier: BSD-2-Clause
#include "run/writer.h"

#include "run/writer_parts.h"

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

static void capability_write(struct jsonw *j, const char *key, bool available, const char *why_not)
{
	jsonw_object(j, key);
	jsonw_bool(j, "available", available);
	if (!available)
		jsonw_string(j, "reason", why_not);
	jsonw_object_end(j);
}

static void capabilities_write(struct jsonw *j, const struct run *run)
{
	jsonw_object(j, "units");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&run->wanted, (enum metric_id)i))
			jsonw_string(j, metric_get((enum metric_id)i)->key,
				     metric_unit_name(metric_get((enum metric_id)i)->unit));
	jsonw_object_end(j);
	jsonw_object(j, "capabilities");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&run->wanted, (enum metric_id)i))
			continue;
		capability_write(j, metric_get((enum metric_id)i)->key,
				 metric_has(&run->usable, (enum metric_id)i), run->unusable[i]);
	}
	/* what the summary would have besides metrics */
	if (run->no_oom_kills)
		capability_write(j, "oom_kills", false, run->no_oom_kills);
	if (run->no_exact_peak)
		capability_write(j, "rss_peak_exact_bytes", false, run->no_exact_peak);
	jsonw_object_end(j);
}

void line_end(struct jsonw *j)
{
	if (j->lossy)
		jsonw_bool(j, "lossy", true);
	j->lossy = false;
	jsonw_object_end(j);
	jsonw_newline(j);
}

static void attachment_write(struct jsonw *j, const struct run *run)
{
	jsonw_object(j, "attached");
	if (run->container) {
		jsonw_string(j, "container", run->container);
		jsonw_string(j, "engine", run->engine);
	}
	if (run->cgroup) {
		jsonw_string(j, "cgroup", run->cgroup);
		jsonw_string(j, "hierarchy", run->hierarchy);
	} else {
		jsonw_array(j, "pids");
		for (size_t i = 0; i < run->nr_targets; i++)
			jsonw_int(j, NULL, run->targets[i]);
		jsonw_array_end(j);
	}
	jsonw_uint(j, "tasks", run->seeded_tasks);
	jsonw_decimal(j, "seeding_seconds", run->seed_ns, 9);
	jsonw_object_end(j);
	jsonw_object(j, "baseline");
	metrics_write(j, run->baseline, &run->baseline_have);
	jsonw_object_end(j);
}

static void of_node_write(struct jsonw *j, const struct job_label *l)
{
	jsonw_object(j, "node_job");
	jsonw_string(j, "id", l->id);
	jsonw_string(j, "kind", l->kind);
	jsonw_string(j, "name", l->name);
	if (l->uid >= 0) {
		jsonw_string(j, "user", l->user);
		jsonw_uint(j, "uid", (uint64_t)l->uid);
	}
	if (l->cgroup)
		jsonw_string(j, "cgroup", l->cgroup);
	if (l->is_adopted)
		jsonw_bool(j, "adopted", true);
	jsonw_object_end(j);
}

void write_meta(struct jsonw *j, const struct run *run)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "meta");
	jsonw_string(j, "schema", "bpfmon/1");
	jsonw_string(j, "version", BPFMON_VERSION);
	jsonw_string(j, "run", run->id);
	jsonw_string(j, "name", run->name);
	if (run->job)
		jsonw_string(j, "job", run->job);
	if (run->note)
		jsonw_string(j, "note", run->note);
	if (run->command) {
		jsonw_array(j, "command");
		for (char *const *arg = run->command; *arg; arg++)
			jsonw_string(j, NULL, *arg);
		jsonw_array_end(j);
	}
	jsonw_string(j, "cwd", run->cwd[0] ? run->cwd : NULL);
	jsonw_string(j, "user", run->user);
	jsonw_uint(j, "uid", run->uid);
	jsonw_string(j, "host", run->host);
	epoch_write(j, "start_time", run->start_epoch_ns);
	jsonw_decimal(j, "interval_seconds", run->interval_ns, 9);
	jsonw_string(j, "source", run->is_from_proc ? "procfs" : "bpf");
	if (run->live_socket[0])
		jsonw_string(j, "live_socket", run->live_socket);
	jsonw_pairs(j, "tags", run->tags, run->nr_tags);
	jsonw_object(j, "system");
	jsonw_uint(j, "cpus", run->cpus);
	jsonw_uint(j, "memory_bytes", run->memory_bytes);
	jsonw_string(j, "kernel", run->kernel);
	if (run->meta)
		system_write(j, &run->meta->system);
	jsonw_object_end(j);
	if (run->meta)
		meta_write_all(j, run->meta);
	if (run->of_node)
		of_node_write(j, run->of_node);
	if (run->is_altered)
		jsonw_bool(j, "altered_for_tests", true);
	if (run->is_attached)
		attachment_write(j, run);
	capabilities_write(j, run);
	j->lossy |= run->is_lossy;
	line_end(j);
}

void kind_begin(struct jsonw *j, const char *kind, const char *run)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", kind);
	if (run)
		jsonw_string(j, "run", run);
}

void instances_write(struct jsonw *j, const struct sample *s)
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

static void sample_write_of(struct jsonw *j, const char *run, uint64_t start_epoch_ns,
			    const struct sample *s)
{
	kind_begin(j, "sample", run);
	epoch_write(j, "time", start_epoch_ns + s->elapsed_ns);
	jsonw_decimal(j, "elapsed_seconds", s->elapsed_ns, 9);
	metrics_write(j, s->value, &s->have);
	instances_write(j, s);
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

void write_process(struct jsonw *j, const struct process *p)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "process");
	jsonw_int(j, "pid", p->pid);
	jsonw_int(j, "ns_pid", p->ns_pid);
	jsonw_int(j, "ppid", p->ppid);
	jsonw_uint(j, "uid", p->uid);
	if (p->span)
		jsonw_uint(j, "span", p->span);
	jsonw_bytes(j, "comm", p->comm, strlen(p->comm));
	jsonw_string(j, "exe", p->exe);
	if (p->args)
		args_write(j, "args", p);
	if (p->args && p->args_cut)
		jsonw_bool(j, "args_cut", true);
	epoch_write(j, "start_time", p->start_epoch_ns);
	if (p->joined_epoch_ns)
		epoch_write(j, "joined_time", p->joined_epoch_ns);
	if (p->left_epoch_ns)
		epoch_write(j, "left_time", p->left_epoch_ns);
	if (p->has_ended && p->end_epoch_ns)
		epoch_write(j, "end_time", p->end_epoch_ns);
	else
		jsonw_null(j, "end_time");
	if (p->has_ended && !p->signal)
		jsonw_int(j, "exit_code", p->exit_code);
	else
		jsonw_null(j, "exit_code");
	if (p->has_ended && p->signal)
		jsonw_int(j, "signal", p->signal);
	else
		jsonw_null(j, "signal");
	if (!p->has_ended)
		jsonw_bytes(j, "state", p->state ? &p->state : "?", 1);
	jsonw_uint(j, "threads_total", p->threads_total);
	jsonw_uint(j, "execs", p->execs);
	if (p->has_rss_peak) {
		jsonw_uint(j, "rss_peak_bytes", p->rss_peak_bytes);
		jsonw_bool(j, "rss_peak_exact", p->rss_peak_exact);
	}
	if (p->children_cpu_ns)
		jsonw_decimal(j, "children_cpu_seconds", p->children_cpu_ns, 9);
	metrics_write(j, p->value, &p->have);
	j->lossy |= p->lossy;
	line_end(j);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "wire/writer.h"

#include "wire/parts.h"

#include <stdlib.h>
#include <string.h>

void epoch_write(struct json *j, const char *key, uint64_t ns)
{
	jw_decimal(j, key, ns / 1000, 6);
}

void metric_write(struct json *j, enum metric_id id, uint64_t value)
{
	jw_decimal(j, metric_get(id)->key, value, metric_decimals(id));
}

void metrics_write(struct json *j, const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			metric_write(j, (enum metric_id)i, value[i]);
}

static void capability_write(struct json *j, const char *key, bool available, const char *why_not)
{
	jw_object(j, key);
	jw_bool(j, "available", available);
	if (!available)
		jw_string(j, "reason", why_not);
	jw_object_end(j);
}

static void capabilities_write(struct json *j, const struct run *run)
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
		capability_write(j, metric_get((enum metric_id)i)->key,
				 metric_has(&run->usable, (enum metric_id)i), run->unusable[i]);
	}
	/* what the summary would have besides metrics */
	if (run->no_oom_kills)
		capability_write(j, "oom_kills", false, run->no_oom_kills);
	if (run->no_exact_peak)
		capability_write(j, "rss_peak_exact_bytes", false, run->no_exact_peak);
	jw_object_end(j);
}

void line_end(struct json *j)
{
	if (j->lossy)
		jw_bool(j, "lossy", true);
	j->lossy = false;
	jw_object_end(j);
	jw_newline(j);
}

static void attachment_write(struct json *j, const struct run *run)
{
	jw_object(j, "attached");
	if (run->container) {
		jw_string(j, "container", run->container);
		jw_string(j, "engine", run->engine);
	}
	if (run->cgroup) {
		jw_string(j, "cgroup", run->cgroup);
		jw_string(j, "hierarchy", run->hierarchy);
	} else {
		jw_array(j, "pids");
		for (size_t i = 0; i < run->nr_targets; i++)
			jw_int(j, NULL, run->targets[i]);
		jw_array_end(j);
	}
	jw_uint(j, "tasks", run->seeded_tasks);
	jw_decimal(j, "seeding_seconds", run->seed_ns, 9);
	jw_object_end(j);
	jw_object(j, "baseline");
	metrics_write(j, run->baseline, &run->baseline_have);
	jw_object_end(j);
}

static void tags_write(struct json *j, const struct run *run)
{
	jw_object(j, "tags");
	for (size_t i = 0; i < run->nr_tags; i++) {
		const char *value = strchr(run->tags[i], '=') + 1;
		char *key = strndup(run->tags[i], (size_t)(value - 1 - run->tags[i]));

		if (key)
			jw_string(j, key, value);
		free(key);
	}
	jw_object_end(j);
}

void write_meta(struct json *j, const struct run *run)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "meta");
	jw_string(j, "schema", "bpfmon/1");
	jw_string(j, "version", BPFMON_VERSION);
	jw_string(j, "run", run->id);
	jw_string(j, "name", run->name);
	if (run->job)
		jw_string(j, "job", run->job);
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
	epoch_write(j, "start_time", run->start_epoch_ns);
	jw_decimal(j, "interval_seconds", run->interval_ns, 9);
	tags_write(j, run);
	jw_object(j, "system");
	jw_uint(j, "cpus", run->cpus);
	jw_uint(j, "memory_bytes", run->memory_bytes);
	jw_string(j, "kernel", run->kernel);
	if (run->meta)
		system_write(j, &run->meta->system);
	jw_object_end(j);
	if (run->meta)
		meta_write_all(j, run->meta);
	if (run->is_altered)
		jw_bool(j, "altered_for_tests", true);
	if (run->is_attached)
		attachment_write(j, run);
	capabilities_write(j, run);
	j->lossy |= run->is_lossy;
	line_end(j);
}

static void instances_write(struct json *j, const struct sample *s)
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
		metrics_write(j, inst->value, &inst->have);
		jw_object_end(j);
	}
	jw_object_end(j);
	jw_object_end(j);
}

void write_sample_since(struct json *j, uint64_t start_epoch_ns, const struct sample *s)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "sample");
	epoch_write(j, "time", start_epoch_ns + s->elapsed_ns);
	jw_decimal(j, "elapsed_seconds", s->elapsed_ns, 9);
	metrics_write(j, s->value, &s->have);
	instances_write(j, s);
	line_end(j);
}

void write_sample(struct json *j, const struct run *run, const struct sample *s)
{
	write_sample_since(j, run->start_epoch_ns, s);
}

static void args_write(struct json *j, const struct process *p)
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
	jw_bytes(j, "comm", p->comm, strlen(p->comm));
	jw_string(j, "exe", p->exe);
	if (p->args)
		args_write(j, p);
	epoch_write(j, "start_time", p->start_epoch_ns);
	if (p->joined_epoch_ns)
		epoch_write(j, "joined_time", p->joined_epoch_ns);
	if (p->left_epoch_ns)
		epoch_write(j, "left_time", p->left_epoch_ns);
	if (p->has_ended && p->end_epoch_ns)
		epoch_write(j, "end_time", p->end_epoch_ns);
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
	metrics_write(j, p->value, &p->have);
	j->lossy |= p->lossy;
	line_end(j);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Writes the meta line: system, limits, container, variables, revision. */
#include "run/writer.h"
#include "version.h"

#include <stdio.h>

/* Writes a text unless it is empty, which means not reported. */
static void meta_write_text(struct jsonw *j, const char *key, const char *text)
{
	if (*text)
		jsonw_string(j, key, text);
}

static void meta_write_count(struct jsonw *j, const char *key, unsigned count)
{
	if (count)
		jsonw_uint(j, key, count);
}

static void nodes_write(struct jsonw *j, const struct system_info *s)
{
	meta_write_count(j, "numa_nodes", s->nr_nodes);
	if (!s->nr_nodes || s->nr_nodes > MAX_NODES)
		return;
	jsonw_object(j, "numa_memory_bytes");
	for (unsigned i = 0; i < s->nr_nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", s->nodes[i].number);
		if (s->nodes[i].memory_bytes)
			jsonw_uint(j, name, s->nodes[i].memory_bytes);
	}
	jsonw_object_end(j);
}

static void system_write(struct jsonw *j, const struct system_info *s)
{
	meta_write_text(j, "cpu_model", s->cpu_model);
	meta_write_count(j, "cpu_sockets", s->sockets);
	meta_write_count(j, "cpu_cores", s->cores);
	meta_write_count(j, "cpu_threads", s->threads);
	meta_write_text(j, "cpu_governor", s->cpu_governor);
	nodes_write(j, s);
	if (s->has_swap)
		jsonw_uint(j, "swap_bytes", s->swap_bytes);
	meta_write_text(j, "transparent_hugepage", s->transparent_hugepage);
	if (s->has_huge_pages)
		jsonw_uint(j, "huge_pages_bytes", s->huge_pages_bytes);
	meta_write_text(j, "architecture", s->architecture);
	meta_write_text(j, "os", s->os);
	meta_write_text(j, "machine", s->machine);
	if (s->knows_virtual)
		jsonw_bool(j, "virtual", s->is_virtual);
	if (s->boot_epoch_ns)
		epoch_write(j, "boot_time", s->boot_epoch_ns);
}

static void limits_write(struct jsonw *j, const struct limits *l)
{
	if (!l->have && !l->cgroup[0] && !l->cpus_allowed[0])
		return;
	jsonw_object(j, "limits");
	meta_write_text(j, "cgroup", l->cgroup);
	meta_write_text(j, "cpus_allowed", l->cpus_allowed);
	meta_write_count(j, "cpus_allowed_count", list_count(l->cpus_allowed));
	meta_write_text(j, "mems_allowed", l->mems_allowed);
	for (int i = 0; i < NR_LIMITS; i++) {
		const struct limit_row *row = limit_get((enum limit_id)i);

		if (limit_has(l, (enum limit_id)i))
			jsonw_decimal(j, row->key, l->value[i], row->decimals);
	}
	jsonw_object_end(j);
}

static void container_write(struct jsonw *j, const struct container_info *c)
{
	if (!c->engine[0])
		return;
	jsonw_object(j, "container");
	jsonw_string(j, "engine", c->engine);
	meta_write_text(j, "id", c->id);
	meta_write_text(j, "name", c->name);
	meta_write_text(j, "image", c->image);
	meta_write_text(j, "pod", c->pod);
	jsonw_object_end(j);
}

static void variables_write(struct jsonw *j, const struct meta *m)
{
	if (!m->nr_variables)
		return;
	jsonw_object(j, "scheduler");
	for (size_t i = 0; i < m->nr_variables; i++)
		jsonw_string(j, m->variables[i].name, m->variables[i].value);
	jsonw_object_end(j);
}

static void revision_write(struct jsonw *j, const struct git *g)
{
	if (!g->revision[0] && !g->branch[0])
		return;
	jsonw_object(j, "git");
	meta_write_text(j, "revision", g->revision);
	meta_write_text(j, "branch", g->branch);
	jsonw_object_end(j);
}

static void meta_write_all(struct jsonw *j, const struct meta *m)
{
	limits_write(j, &m->limits);
	container_write(j, &m->container);
	variables_write(j, m);
	revision_write(j, &m->git);
}

static void capability_write(struct jsonw *j, const char *key, bool available, const char *why_not)
{
	jsonw_object(j, key);
	jsonw_bool(j, "available", available);
	if (!available)
		jsonw_string(j, "reason", why_not);
	jsonw_object_end(j);
}

/* Of a metric of hardware that is missing the reason is written once, for its group. */
static bool is_of_missing_hardware(const struct run *run, enum metric_id id)
{
	return !metric_has(&run->usable, id) &&
	       metric_source_get(metric_get(id)->source)->of_hardware;
}

static void hardware_write(struct jsonw *j, const struct run *run)
{
	enum metric_group last = NR_GROUPS;

	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_id id = (enum metric_id)i;

		if (!metric_has(&run->wanted, id) || !is_of_missing_hardware(run, id) ||
		    metric_get(id)->group == last)
			continue;
		last = metric_get(id)->group;
		capability_write(j, metric_group_name(last), false, run->unusable[i]);
	}
}

static void capabilities_write(struct jsonw *j, const struct run *run)
{
	jsonw_object(j, "units");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&run->wanted, (enum metric_id)i) &&
		    !is_of_missing_hardware(run, (enum metric_id)i))
			jsonw_string(j, metric_get((enum metric_id)i)->key,
				     metric_unit_name(metric_get((enum metric_id)i)->unit));
	jsonw_object_end(j);
	jsonw_object(j, "capabilities");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&run->wanted, (enum metric_id)i) ||
		    is_of_missing_hardware(run, (enum metric_id)i))
			continue;
		capability_write(j, metric_get((enum metric_id)i)->key,
				 metric_has(&run->usable, (enum metric_id)i), run->unusable[i]);
	}
	hardware_write(j, run);
	/* values of the summary other than metrics */
	if (run->no_oom_kills)
		capability_write(j, "oom_kills", false, run->no_oom_kills);
	if (run->no_exact_peak)
		capability_write(j, "rss_peak_exact_bytes", false, run->no_exact_peak);
	jsonw_object_end(j);
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

static void label_write(struct jsonw *j, const char *key, const char *text)
{
	if (text && *text)
		jsonw_string(j, key, text);
}

static void of_node_write(struct jsonw *j, const struct job_label *l)
{
	struct limits limits = { 0 };

	if (l->bounds.memory_max_bytes)
		limit_lower(&limits, LIMIT_MEMORY_MAX, l->bounds.memory_max_bytes);
	if (l->bounds.cpu_max_milli)
		limit_lower(&limits, LIMIT_CPU_MAX, l->bounds.cpu_max_milli);
	jsonw_object(j, "node_job");
	jsonw_string(j, "id", l->id);
	jsonw_string(j, "kind", l->kind);
	jsonw_string(j, "name", l->name);
	if (l->uid >= 0) {
		jsonw_string(j, "user", l->user);
		jsonw_uint(j, "uid", (uint64_t)l->uid);
	}
	label_write(j, "account", l->account);
	label_write(j, "partition", l->partition);
	label_write(j, "sluid", l->sluid);
	label_write(j, "cgroup", l->cgroup);
	if (l->cgroup_id)
		jsonw_uint(j, "cgroup_id", l->cgroup_id);
	if (l->in_pod && l->in_pod->pod) {
		jsonw_string(j, "namespace", l->in_pod->namespace);
		jsonw_string(j, "pod", l->in_pod->pod);
		if (l->in_pod->container)
			jsonw_string(j, "container", l->in_pod->container);
	}
	if (l->bounds.cpu_request_milli)
		jsonw_decimal(j, "cpu_request_cores", l->bounds.cpu_request_milli, 3);
	if (l->is_adopted)
		jsonw_bool(j, "adopted", true);
	if (l->is_nested)
		jsonw_bool(j, "nested", true);
	if (l->within)
		jsonw_string(j, "within", l->within);
	jsonw_object_end(j);
	limits_write(j, &limits);
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

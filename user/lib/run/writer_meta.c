// SPDX-License-Identifier: BSD-2-Clause
/* Writes the facts of the meta line: system, limits, container, variables, revision. */
#include "run/writer_parts.h"

#include <stdio.h>

/* What was not reported is not there. */
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

void system_write(struct jsonw *j, const struct system_info *s)
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

void meta_write_all(struct jsonw *j, const struct meta *m)
{
	limits_write(j, &m->limits);
	container_write(j, &m->container);
	variables_write(j, m);
	revision_write(j, &m->git);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/description.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 64 /* limit of a variable's name */

static const struct field run_fields[] = {
	FIELD_STRING_OF(run, name, RUN_WORD_BYTES * 3ULL),
	FIELD_STRING_OF(run, job, RUN_WORD_BYTES * 3ULL),
	FIELD_STRING_OF(run, note, DESCRIPTION_BYTES),
	FIELD_TEXT_OF(run, cwd),
	FIELD_TEXT_OF(run, user),
	FIELD_U32_OF(run, uid, UINT32_MAX),
	FIELD_TEXT_OF(run, host),
	{ "attached_container", FIELD_STRING, offsetof(struct run, container), 256 },
	{ "attached_engine", FIELD_STRING, offsetof(struct run, engine), 64 },
	{ "lossy", FIELD_BOOL, offsetof(struct run, is_lossy), 1 },
	{ .key = NULL },
};

static const struct field system_fields[] = {
	FIELD_TEXT_OF(system_info, cpu_model),
	FIELD_U32_OF(system_info, sockets, UINT32_MAX),
	FIELD_U32_OF(system_info, cores, UINT32_MAX),
	FIELD_U32_OF(system_info, threads, UINT32_MAX),
	FIELD_U32_OF(system_info, nr_nodes, UINT32_MAX),
	FIELD_BOOL_OF(system_info, has_swap),
	FIELD_U64_OF(system_info, swap_bytes, NUMBER_MAX),
	FIELD_BOOL_OF(system_info, has_huge_pages),
	FIELD_U64_OF(system_info, huge_pages_bytes, NUMBER_MAX),
	FIELD_TEXT_OF(system_info, transparent_hugepage),
	FIELD_TEXT_OF(system_info, cpu_governor),
	FIELD_TEXT_OF(system_info, architecture),
	FIELD_TEXT_OF(system_info, os),
	FIELD_TEXT_OF(system_info, machine),
	FIELD_BOOL_OF(system_info, knows_virtual),
	FIELD_BOOL_OF(system_info, is_virtual),
	FIELD_U64_OF(system_info, boot_epoch_ns, NUMBER_MAX),
	{ .key = NULL },
};

static const struct field limit_fields[] = {
	FIELD_TEXT_OF(limits, cgroup),
	FIELD_TEXT_OF(limits, cpus_allowed),
	FIELD_TEXT_OF(limits, mems_allowed),
	{ .key = NULL },
};

static const struct field container_fields[] = {
	FIELD_TEXT_OF(container_info, engine), FIELD_TEXT_OF(container_info, id),
	FIELD_TEXT_OF(container_info, name),   FIELD_TEXT_OF(container_info, image),
	FIELD_TEXT_OF(container_info, pod),    { .key = NULL },
};

static const struct field git_fields[] = {
	FIELD_TEXT_OF(git, revision),
	FIELD_TEXT_OF(git, branch),
	{ .key = NULL },
};

static void description_write_nodes(struct jsonw *j, const struct system_info *s)
{
	jsonw_array(j, "nodes");
	for (unsigned i = 0; i < s->nr_nodes && s->nr_nodes <= MAX_NODES; i++) {
		jsonw_array(j, NULL);
		jsonw_uint(j, NULL, s->nodes[i].number);
		jsonw_uint(j, NULL, s->nodes[i].memory_bytes);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
}

static void description_write_limits(struct jsonw *j, const struct limits *l)
{
	jsonw_object(j, "values");
	for (int i = 0; i < NR_LIMITS; i++)
		if (limit_has(l, (enum limit_id)i))
			jsonw_uint(j, limit_get((enum limit_id)i)->key, l->value[i]);
	jsonw_object_end(j);
}

static void description_write_variables(struct jsonw *j, const struct meta *m)
{
	jsonw_object(j, "variables");
	for (size_t i = 0; i < m->nr_variables; i++)
		jsonw_string(j, m->variables[i].name, m->variables[i].value);
	jsonw_object_end(j);
}

static void description_write_findings(struct jsonw *j, const struct meta *m)
{
	jsonw_object(j, "system");
	fields_write(j, system_fields, &m->system);
	description_write_nodes(j, &m->system);
	jsonw_object_end(j);
	jsonw_object(j, "limits");
	fields_write(j, limit_fields, &m->limits);
	description_write_limits(j, &m->limits);
	jsonw_object_end(j);
	jsonw_object(j, "container");
	fields_write(j, container_fields, &m->container);
	jsonw_object_end(j);
	description_write_variables(j, m);
	jsonw_object(j, "git");
	fields_write(j, git_fields, &m->git);
	jsonw_object_end(j);
}

void description_write(struct jsonw *j, const struct run *run)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "description");
	jsonw_array(j, "tags");
	for (size_t i = 0; i < run->nr_tags; i++)
		jsonw_string(j, NULL, run->tags[i]);
	jsonw_array_end(j);
	if (run->command) {
		jsonw_array(j, "command");
		for (char *const *arg = run->command; *arg; arg++)
			jsonw_string(j, NULL, *arg);
		jsonw_array_end(j);
	}
	if (run->meta)
		description_write_findings(j, run->meta);
	fields_write(j, run_fields, run);
	if (j->lossy && !run->is_lossy)
		jsonw_bool(j, "lossy", true);
	j->lossy = false;
	jsonw_object_end(j);
}

static int description_read_tags(struct run *run, const json_t *list, char *why, size_t size)
{
	size_t n = json_array_size(list), key;
	const char *tag;

	if ((list && !json_is_array(list)) || n > MAX_TAGS)
		return fields_refuse("tags", "is not a list, or too long", why, size);
	for (run->nr_tags = 0; run->nr_tags < n; run->nr_tags++) {
		tag = json_string_value(json_array_get(list, run->nr_tags));
		key = tag ? strcspn(tag, "=") : 0;
		if (!key || !tag[key] || strlen(tag) >= RUN_WORD_BYTES * 3ULL)
			return fields_refuse("tags",
					     "has an item that is too long or not "
					     "KEY=VALUE",
					     why, size);
		for (size_t i = 0; i < run->nr_tags; i++)
			if (!strncmp(run->tags[i], tag, key + 1))
				return fields_refuse("tags", "has a key twice", why, size);
		run->tags[run->nr_tags] = tag;
	}
	return 0;
}

static int description_read_command(struct described *d, struct run *run, const json_t *list,
				    char *why, size_t size)
{
	size_t n = json_array_size(list);

	if (!list)
		return 0;
	if (!n)
		return fields_refuse("command", "is not a list, or empty", why, size);
	d->command = memory_calloc(n + 1, sizeof(*d->command));
	if (!d->command)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		d->command[i] = json_string_value(json_array_get(list, i));
		if (!d->command[i])
			return fields_refuse("command", "has an item that is not a text", why,
					     size);
	}
	run->command = (char *const *)d->command;
	return 0;
}

static int description_read_nodes(struct system_info *s, const json_t *list, char *why, size_t size)
{
	size_t n = json_array_size(list);

	if ((list && !json_is_array(list)) || n > MAX_NODES || n > s->nr_nodes)
		return fields_refuse("nodes", "is not a list, or too long", why, size);
	for (size_t i = 0; i < n; i++) {
		const json_t *node = json_array_get(list, i), *number = json_array_get(node, 0),
			     *bytes = json_array_get(node, 1);

		if (!json_is_integer(number) || json_integer_value(number) < 0 ||
		    json_integer_value(number) > UINT32_MAX || !json_is_integer(bytes) ||
		    json_integer_value(bytes) < 0)
			return fields_refuse("nodes", "has an invalid item", why, size);
		s->nodes[i] = (struct numa_node){ (unsigned)json_integer_value(number),
						  (uint64_t)json_integer_value(bytes) };
	}
	return 0;
}

static int description_read_limits(struct limits *l, json_t *values, char *why, size_t size)
{
	size_t known = 0;

	if (values && !json_is_object(values))
		return fields_refuse("values", "is not an object", why, size);
	for (int i = 0; i < NR_LIMITS; i++) {
		const json_t *v = json_object_get(values, limit_get((enum limit_id)i)->key);

		if (!v)
			continue;
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return fields_refuse("values", "has an invalid item", why, size);
		limit_lower(l, (enum limit_id)i, (uint64_t)json_integer_value(v));
		known++;
	}
	if (known != json_object_size(values))
		return fields_refuse("values", "has an unknown limit", why, size);
	return 0;
}

static bool text_is_number_list(const char *text)
{
	return !text[strspn(text, "0123456789,-")];
}

static bool variable_is_valid(const char *name, const json_t *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz_0123456789";

	return *name && strlen(name) < NAME_BYTES && !name[strspn(name, letters)] &&
	       json_is_string(value);
}

static int description_read_variables(struct meta *m, json_t *variables, char *why, size_t size)
{
	const char *name;
	json_t *v;

	if ((variables && !json_is_object(variables)) ||
	    json_object_size(variables) > MAX_VARIABLES)
		return fields_refuse("variables", "is not an object, or too long", why, size);
	json_object_foreach(variables, name, v) {
		struct variable *to = &m->variables[m->nr_variables];

		if (!variable_is_valid(name, v) ||
		    !field_read_text(v, to->value, sizeof(to->value)))
			return fields_refuse("variables", "has an invalid item", why, size);
		to->name = name;
		m->nr_variables++;
	}
	return 0;
}

static bool git_has_revision(const struct git *g)
{
	size_t n = strlen(g->revision);

	return (!n || n == 40 || n == 64) && !g->revision[strspn(g->revision, "0123456789abcdef")];
}

static int description_read_findings(struct meta *m, const json_t *o, char *why, size_t size)
{
	static const char *const of_system[] = { "nodes", NULL }, *const of_limits[] = { "values",
											 NULL };
	json_t *system = json_object_get(o, "system"), *limits = json_object_get(o, "limits");
	int err = fields_read(system, system_fields, of_system, &m->system, why, size);

	if (!err)
		err = description_read_nodes(&m->system, json_object_get(system, "nodes"), why,
					     size);
	if (!err)
		err = fields_read(limits, limit_fields, of_limits, &m->limits, why, size);
	if (!err)
		err = description_read_limits(&m->limits, json_object_get(limits, "values"), why,
					      size);
	if (!err && !(text_is_number_list(m->limits.cpus_allowed) &&
		      text_is_number_list(m->limits.mems_allowed)))
		err = fields_refuse("limits", "has an invalid list of numbers", why, size);
	if (!err)
		err = fields_read(json_object_get(o, "container"), container_fields, NULL,
				  &m->container, why, size);
	if (!err)
		err = description_read_variables(m, json_object_get(o, "variables"), why, size);
	if (!err)
		err = fields_read(json_object_get(o, "git"), git_fields, NULL, &m->git, why, size);
	if (!err && !git_has_revision(&m->git))
		err = fields_refuse("git", "has an invalid revision", why, size);
	return err;
}

static int description_read_run(struct described *d, json_t *o, struct run *run, char *why,
				size_t size)
{
	static const char *const others[] = { "kind",      "tags",   "command",
					      "system",    "limits", "container",
					      "variables", "git",    NULL };
	const char *kind = json_string_value(json_object_get(o, "kind"));
	int err;

	if (!kind || strcmp(kind, "description") != 0)
		return fields_refuse("kind", "is not description", why, size);
	err = fields_read(o, run_fields, others, run, why, size);
	if (!err)
		err = description_read_tags(run, json_object_get(o, "tags"), why, size);
	if (!err)
		err = description_read_command(d, run, json_object_get(o, "command"), why, size);
	if (!err)
		err = description_read_findings(&d->meta, o, why, size);
	if (!err && json_object_get(o, "system"))
		run->meta = &d->meta;
	return err;
}

int description_read(struct described *d, const char *text, size_t length, struct run *run,
		     char *why, size_t size)
{
	size_t failures = memory_failures_of_thread();
	int err;

	memset(d, 0, sizeof(*d));
	d->tree = jansson_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	snprintf(why, size, "it is not a JSON object");
	err = json_is_object((json_t *)d->tree) ? description_read_run(d, d->tree, run, why, size)
						: -EBADMSG;
	if (memory_failures_of_thread() == failures)
		return err;
	snprintf(why, size, "out of memory");
	return -ENOMEM;
}

void described_done(struct described *d)
{
	json_decref(d->tree);
	free(d->command);
	memset(d, 0, sizeof(*d));
}

// SPDX-License-Identifier: BSD-2-Clause
/* What the meta line says of a run: its names, its limits. */
#include "top/model.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void model_copy_text(char *to, size_t size, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(to, size, "%s", text ? text : "");
}

static uint64_t member_count(const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? (uint64_t)n : 0;
}

static void command_copy(struct model *m, const json_t *meta)
{
	const json_t *list = json_object_get(meta, "command"), *word;
	size_t used = 0, i;

	m->command[0] = '\0';
	json_array_foreach(list, i, word) {
		if (!json_is_string(word) || used + 1 >= sizeof(m->command))
			continue;
		snprintf(m->command + used, sizeof(m->command) - used, "%s%s", i ? " " : "",
			 json_string_value(word));
		used = strlen(m->command);
	}
}

/* A job of a node is known by its id, of which the name is a part. */
static void model_name_job(struct model *m, const json_t *job)
{
	const char *id = json_string_value(json_object_get(job, "id"));

	if (id && strcmp(id, "run") != 0)
		snprintf(m->name, sizeof(m->name), "%s", id);
}

int model_take_meta(struct model *m, struct line *l)
{
	const json_t *meta = l->tree, *system = json_object_get(meta, "system");
	const json_t *limits = json_object_get(meta, "limits");
	int err = line_check_meta(l);

	if (err || m->has_meta) /* of a feed that was opened anew */
		return err;
	m->has_meta = true;
	m->start_epoch_ns = l->start_epoch_ns;
	m->interval_ns =
		(uint64_t)(json_number_value(json_object_get(meta, "interval_seconds")) * 1e9);
	model_copy_text(m->name, sizeof(m->name), meta, "name");
	model_name_job(m, json_object_get(meta, "node_job"));
	model_copy_text(m->host, sizeof(m->host), meta, "host");
	model_copy_text(m->user, sizeof(m->user), meta, "user");
	model_copy_text(m->uuid, sizeof(m->uuid), meta, "run");
	model_copy_text(m->live_socket, sizeof(m->live_socket), meta, "live_socket");
	command_copy(m, meta);
	m->cpus = member_count(system, "cpus");
	m->cpu_limit = member_count(limits, "cpus_allowed_count") * 1000;
	m->memory_bytes = member_count(system, "memory_bytes");
	m->memory_limit_bytes = member_count(limits, "memory_max_bytes");
	return 0;
}

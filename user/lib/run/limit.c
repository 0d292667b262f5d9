// SPDX-License-Identifier: BSD-2-Clause
#include "run/limit.h"

#include "base/text.h"
#include "run/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyz_0123456789"

const char *const limit_of_words[NR_LIMIT_OF] = { "", "process.", "span." };

struct short_name {
	const char *name;
	unsigned nr;
	enum metric_id parts[MAX_LIMIT_PARTS];
};

/* Short words, and the keys of figures that a limit compares while they grow. */
static const struct short_name short_names[] = {
	{ "memory", 1, { M_rss } },
	{ "memory_needed_bytes", 1, { M_rss } },
	{ "rss", 1, { M_rss } },
	{ "peak", 1, { M_rss } },
	{ "rss_peak_bytes", 1, { M_rss } },
	{ "pss", 1, { M_pss } },
	{ "uss", 1, { M_uss } },
	{ "swap", 1, { M_swap } },
	{ "cpu", 1, { M_cpu } },
	{ "read", 1, { M_read } },
	{ "write", 1, { M_write } },
	{ "written", 1, { M_write } },
	{ "net", 2, { M_net_rx, M_net_tx } },
};

/*
 * Returns false if the metric is unknown in that scope. A process has the counters of its tasks and
 * some memory; a span also has the values of its account and all memory that a drain reads.
 */
static bool limit_is_known_of(enum limit_of of, enum metric_id id)
{
	switch (of) {
	case LIMIT_OF_PROCESS:
		return metric_is_of_process(id) || id == M_rss || id == M_rss_anon || id == M_swap;
	case LIMIT_OF_SPAN:
		return metric_is_of_process(id) ||
		       metric_source_get(metric_get(id)->source)->of_account;
	default:
		return true;
	}
}

static int limit_find_parts(struct limit *l, const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++) {
		const struct short_name *s = &short_names[i];

		if (!text_is(key, length, s->name))
			continue;
		l->nr_parts = s->nr;
		memcpy(l->parts, s->parts, sizeof(l->parts));
		return 0;
	}
	l->nr_parts = 1;
	return metric_find(key, length, &l->parts[0]);
}

static int limit_set_key(struct limit *l, const char *key, size_t length)
{
	l->is_wall = text_is(key, length, "wall") || text_is(key, length, "wall_seconds");
	l->is_needed =
		text_is(key, length, "memory") || text_is(key, length, "memory_needed_bytes");
	l->nr_parts = 0;
	if (l->is_needed && l->of != LIMIT_OF_RUN)
		return -EINVAL;
	if (!l->is_wall && limit_find_parts(l, key, length))
		return -ENOENT;
	for (unsigned i = 0; i < l->nr_parts; i++)
		if (!limit_is_known_of(l->of, l->parts[i]))
			return -EINVAL;
	return 0;
}

const char *limit_set_from_text(struct limit *l, const char *text, int *err)
{
	size_t length;

	for (int of = LIMIT_OF_PROCESS; of < NR_LIMIT_OF; of++) {
		length = strlen(limit_of_words[of]);
		if (strncmp(text, limit_of_words[of], length) != 0)
			continue;
		l->of = (enum limit_of)of;
		text += length;
		break;
	}
	length = strspn(text, KEY_CHARACTERS);
	*err = limit_set_key(l, text, length);
	return text + length;
}

enum metric_unit limit_unit(const struct limit *l)
{
	return l->is_wall ? UNIT_NS : metric_get(l->parts[0])->unit;
}

static const char key[] = "limits";

static void limit_write(struct jsonw *j, const struct limit *l)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "text", l->text);
	jsonw_string(j, "of", limit_of_words[l->of]);
	jsonw_array(j, "keys");
	for (unsigned i = 0; i < l->nr_parts; i++)
		jsonw_string(j, NULL, metric_get(l->parts[i])->key);
	jsonw_array_end(j);
	jsonw_uint(j, "most", l->most);
	jsonw_bool(j, "soft", l->is_soft);
	if (l->is_needed)
		jsonw_bool(j, "needed", true);
	jsonw_object_end(j);
}

void run_limits_write(struct jsonw *j, const struct limit *limits, size_t nr)
{
	if (!nr)
		return;
	jsonw_array(j, key);
	for (size_t i = 0; i < nr; i++)
		limit_write(j, &limits[i]);
	jsonw_array_end(j);
}

static bool limit_read_of(struct limit *l, const json_t *v)
{
	const char *word = json_string_value(v);

	for (size_t i = 0; word && i < NR_LIMIT_OF; i++) {
		if (strcmp(limit_of_words[i], word) != 0)
			continue;
		l->of = (enum limit_of)i;
		return true;
	}
	return false;
}

/* Parses the keys: none is a limit of time. Several must be valid alone and have one unit. */
static bool limit_read_keys(struct limit *l, const json_t *list)
{
	const size_t nr = json_array_size(list);

	if (!json_is_array(list) || nr > MAX_LIMIT_PARTS)
		return false;
	if (!nr)
		return !limit_set_key(l, "wall", strlen("wall"));
	for (size_t i = 0; i < nr; i++) {
		const json_t *v = json_array_get(list, i);
		struct limit one = { .of = l->of };

		if (!json_is_string(v) ||
		    limit_set_key(&one, json_string_value(v), json_string_length(v)) ||
		    one.nr_parts != 1 ||
		    (i && metric_get(one.parts[0])->unit != metric_get(l->parts[0])->unit))
			return false;
		l->parts[l->nr_parts++] = one.parts[0];
	}
	return true;
}

static bool limit_read(struct limit *l, const json_t *o)
{
	*l = (struct limit){ .is_soft = json_is_true(json_object_get(o, "soft")),
			     .is_needed = json_is_true(json_object_get(o, "needed")) };
	return limit_read_of(l, json_object_get(o, "of")) &&
	       limit_read_keys(l, json_object_get(o, "keys")) &&
	       value_read_number(json_object_get(o, "most"), 0, &l->most) &&
	       field_read_text(json_object_get(o, "text"), l->text, sizeof(l->text));
}

int run_limits_read(struct limit *limits, unsigned *nr, const json_t *list, char *why, size_t size)
{
	*nr = 0;
	if (!list)
		return 0;
	if (!json_is_array(list) || json_array_size(list) > MAX_LIMITS)
		return fields_refuse(key, "is not a list, or too long", why, size);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!limit_read(&limits[(*nr)++], json_array_get(list, i)))
			return fields_refuse(key, "has an unknown item", why, size);
	return 0;
}

void limit_hit_write(struct jsonw *j, const struct limit_hit *hit)
{
	jsonw_string(j, "limit", hit->text);
	jsonw_bool(j, "ended", hit->is_end);
	jsonw_string(j, "unit", metric_unit_name(hit->unit));
	jsonw_decimal(j, "value", hit->value, metric_unit_decimals(hit->unit));
	jsonw_decimal(j, "elapsed_seconds", hit->elapsed_ns, 9);
	if (hit->is_contradicted)
		jsonw_uint(j, "memory_needed_bytes", hit->needed_bytes);
	if (hit->has_process) {
		jsonw_int(j, "pid", hit->pid);
		jsonw_bytes(j, "comm", hit->comm, strlen(hit->comm));
	}
	if (hit->span) {
		jsonw_uint(j, "span", hit->span);
		jsonw_bytes(j, "span_name", hit->span_name, strlen(hit->span_name));
	}
}

/*
 * Sets the unit of the metric in @text, as two units have the same name. If the metric is unknown
 * to this version, sets the first unit of that name.
 */
static bool limit_unit_read(enum metric_unit *unit, const json_t *v, const char *text)
{
	const char *name = json_string_value(v);
	struct limit limit = { 0 };
	int err;

	limit_set_from_text(&limit, text, &err);
	if (!err)
		*unit = limit_unit(&limit);
	for (int i = 0; err && name && i < NR_UNITS; i++) {
		if (strcmp(metric_unit_name((enum metric_unit)i), name) != 0)
			continue;
		*unit = (enum metric_unit)i;
		err = 0;
	}
	return !err && name && !strcmp(metric_unit_name(*unit), name);
}

bool limit_hit_read(struct limit_hit *hit, const json_t *object)
{
	const json_t *pid = json_object_get(object, "pid");

	*hit = (struct limit_hit){ .is_end = json_is_true(json_object_get(object, "ended")) };
	if (!field_read_text(json_object_get(object, "limit"), hit->text, sizeof(hit->text)) ||
	    !limit_unit_read(&hit->unit, json_object_get(object, "unit"), hit->text) ||
	    !value_read_number(json_object_get(object, "value"), metric_unit_decimals(hit->unit),
			       &hit->value)) {
		hit->text[0] = '\0';
		return false;
	}
	hit->elapsed_ns = member_read_number(object, "elapsed_seconds", 9);
	hit->is_contradicted = member_read_bytes(object, "memory_needed_bytes", &hit->needed_bytes);
	hit->has_process = pid;
	hit->pid = value_read_int32(pid);
	comm_read(hit->comm, object);
	hit->span = member_read_number(object, "span", 0);
	if (!field_read_text(json_object_get(object, "span_name"), hit->span_name,
			     sizeof(hit->span_name)))
		hit->span_name[0] = '\0';
	return true;
}

static const struct {
	const char *name;
	enum metric_unit of;
	double factor;
} suffixes[] = {
	{ "B", UNIT_BYTES, 1 },
	{ "KiB", UNIT_BYTES, 1024 },
	{ "MiB", UNIT_BYTES, 1048576 },
	{ "GiB", UNIT_BYTES, 1073741824 },
	{ "TiB", UNIT_BYTES, 1099511627776 },
	{ "K", UNIT_BYTES, 1024 }, /* as in batch systems and systemd */
	{ "M", UNIT_BYTES, 1048576 },
	{ "G", UNIT_BYTES, 1073741824 },
	{ "T", UNIT_BYTES, 1099511627776 },
	{ "kB", UNIT_BYTES, 1e3 },
	{ "MB", UNIT_BYTES, 1e6 },
	{ "GB", UNIT_BYTES, 1e9 },
	{ "TB", UNIT_BYTES, 1e12 },
	{ "us", UNIT_NS, 1e-6 },
	{ "ms", UNIT_NS, 1e-3 },
	{ "s", UNIT_NS, 1 },
	{ "min", UNIT_NS, 60 },
	{ "h", UNIT_NS, 3600 },
	{ "d", UNIT_NS, 86400 },
	{ "J", UNIT_MICROJOULE, 1 },
	{ "kJ", UNIT_MICROJOULE, 1e3 },
	{ "MJ", UNIT_MICROJOULE, 1e6 },
	{ "W", UNIT_MILLIWATT, 1 },
	{ "kW", UNIT_MILLIWATT, 1e3 },
};

int suffix_find(const char *suffix, enum metric_unit *of, double *factor)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (strcmp(suffixes[i].name, suffix) != 0)
			continue;
		*of = suffixes[i].of;
		*factor = suffixes[i].factor;
		return 0;
	}
	return -ENOENT;
}

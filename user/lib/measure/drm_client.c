// SPDX-License-Identifier: BSD-2-Clause
#include "measure/drm.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS 16 /* of memory; more are ignored */

/* Where the bytes of a region come from, in the order of preference. */
enum region_rank { RANK_NONE, RANK_TOTAL, RANK_MEMORY, RANK_RESIDENT };

struct region {
	char name[24];
	enum region_rank rank;
	uint64_t bytes;
};

struct client_text {
	struct drm_client *c;
	struct region regions[REGIONS];
	size_t nr_regions;
};

/* Copies a name of visible characters. Returns false if it is empty or has no room in @out. */
static bool name_copy(char *out, size_t size, const char *from, size_t length)
{
	if (!length || length >= size)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)from[i]))
			return false;
	memcpy(out, from, length);
	out[length] = '\0';
	return true;
}

/* Reads a number and advances *@at. Returns false if there is none, or it is too large. */
static bool count_read(const char **at, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

/* Reads a number of bytes, with a unit or without. */
static bool bytes_parse(const char *at, uint64_t *bytes)
{
	static const struct {
		const char *name;
		unsigned shift;
	} units[] = { { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	uint64_t value;

	if (!count_read(&at, &value))
		return false;
	at += strspn(at, " \t");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strncmp(at, units[i].name, strlen(units[i].name)) != 0)
			continue;
		if (value > UINT64_MAX >> units[i].shift)
			return false;
		value <<= units[i].shift;
	}
	*bytes = value;
	return true;
}

/* Finds or adds an engine; NULL if there is no room. */
static struct drm_engine *client_engine(struct drm_client *c, const char *name, size_t length)
{
	struct drm_engine added = { .capacity = 1 };

	if (!name_copy(added.name, sizeof(added.name), name, length))
		return NULL;
	for (uint32_t i = 0; i < c->nr_engines; i++)
		if (!strcmp(c->engines[i].name, added.name))
			return &c->engines[i];
	if (c->nr_engines == DRM_ENGINES)
		return NULL;
	c->engines[c->nr_engines] = added;
	return &c->engines[c->nr_engines++];
}

static struct region *client_region(struct client_text *t, const char *name, size_t length)
{
	struct region added = { .rank = RANK_NONE };

	if (!name_copy(added.name, sizeof(added.name), name, length))
		return NULL;
	for (size_t i = 0; i < t->nr_regions; i++)
		if (!strcmp(t->regions[i].name, added.name))
			return &t->regions[i];
	if (t->nr_regions == REGIONS)
		return NULL;
	t->regions[t->nr_regions] = added;
	return &t->regions[t->nr_regions++];
}

static void region_take(struct client_text *t, const char *name, size_t length, const char *value,
			enum region_rank rank)
{
	struct region *r;
	uint64_t bytes;

	if (!bytes_parse(value, &bytes))
		return;
	r = client_region(t, name, length);
	if (!r || r->rank >= rank)
		return;
	r->rank = rank;
	r->bytes = bytes;
}

enum engine_key { ENGINE_CAPACITY, ENGINE_NS, ENGINE_CYCLES, ENGINE_CLOCK };

static void engine_take(struct drm_client *c, const char *name, size_t length, const char *value,
			enum engine_key key)
{
	struct drm_engine *e;
	uint64_t count;

	if (!count_read(&value, &count))
		return;
	e = client_engine(c, name, length);
	if (!e)
		return;
	switch (key) {
	case ENGINE_CAPACITY:
		e->capacity = count && count <= UINT32_MAX ? (uint32_t)count : 1;
		break;
	case ENGINE_NS:
		/* amdgpu has two kinds of ring with the name "dec", of which a device has one */
		e->ns = count > UINT64_MAX - e->ns ? UINT64_MAX : e->ns + count;
		e->has_ns = true;
		break;
	case ENGINE_CYCLES:
		e->cycles = count;
		e->has_cycles = true;
		break;
	case ENGINE_CLOCK:
		e->clock_cycles = count;
		break;
	}
}

/* Keys that go on with the name of an engine. Of two with the same beginning, the longer first. */
static const struct {
	const char *prefix;
	enum engine_key key;
} engine_keys[] = {
	{ "drm-engine-capacity-", ENGINE_CAPACITY },
	{ "drm-engine-", ENGINE_NS },
	{ "drm-total-cycles-", ENGINE_CLOCK },
	{ "drm-cycles-", ENGINE_CYCLES },
};

/* Keys that go on with the name of a region, after the keys above. */
static const struct {
	const char *prefix;
	enum region_rank rank;
} region_keys[] = {
	{ "drm-resident-", RANK_RESIDENT },
	{ "drm-memory-", RANK_MEMORY },
	{ "drm-total-", RANK_TOTAL },
};

static bool key_begins(const char *key, size_t length, const char *prefix)
{
	return length > strlen(prefix) && !strncmp(key, prefix, strlen(prefix));
}

static void named_value_take(struct client_text *t, const char *key, size_t length,
			     const char *value)
{
	for (size_t i = 0; i < sizeof(engine_keys) / sizeof(*engine_keys); i++) {
		size_t n = strlen(engine_keys[i].prefix);

		if (!key_begins(key, length, engine_keys[i].prefix))
			continue;
		engine_take(t->c, key + n, length - n, value, engine_keys[i].key);
		return;
	}
	for (size_t i = 0; i < sizeof(region_keys) / sizeof(*region_keys); i++) {
		size_t n = strlen(region_keys[i].prefix);

		if (key_begins(key, length, region_keys[i].prefix))
			region_take(t, key + n, length - n, value, region_keys[i].rank);
	}
}

static bool key_is(const char *key, size_t length, const char *known)
{
	return strlen(known) == length && !memcmp(key, known, length);
}

/* Reads one line, up to @end. Returns false if what it names cannot be. */
static bool client_line_read(struct client_text *t, const char *line, const char *end)
{
	const char *colon = memchr(line, ':', (size_t)(end - line)), *value;
	size_t length, rest;

	if (!colon)
		return true;
	length = (size_t)(colon - line);
	value = colon + 1;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	rest = (size_t)(end - value);
	if (key_is(line, length, "drm-driver")) /* the beginning identifies it */
		return name_copy(t->c->driver, sizeof(t->c->driver), value,
				 rest < sizeof(t->c->driver) ? rest : sizeof(t->c->driver) - 1);
	if (key_is(line, length, "drm-pdev"))
		return name_copy(t->c->pdev, sizeof(t->c->pdev), value, rest);
	if (key_is(line, length, "drm-client-id"))
		return t->c->has_id = count_read(&value, &t->c->id);
	named_value_take(t, line, length, value);
	return true;
}

/* Returns true if a region is memory of the device. i915 names it "local0", others "vram". */
static bool region_is_local(const char *name)
{
	return !strncmp(name, "vram", 4) || !strncmp(name, "local", 5) ||
	       !strncmp(name, "lmem", 4) || !strncmp(name, "stolen-local", 12);
}

static void regions_sum(struct client_text *t)
{
	bool has_local = false;

	for (size_t i = 0; i < t->nr_regions; i++)
		has_local |= region_is_local(t->regions[i].name);
	for (size_t i = 0; i < t->nr_regions; i++) {
		const struct region *r = &t->regions[i];

		if (has_local && !region_is_local(r->name))
			continue;
		if (r->bytes > UINT64_MAX - t->c->memory_bytes)
			return;
		t->c->memory_bytes += r->bytes;
		t->c->has_memory = true;
	}
}

int drm_client_parse(struct drm_client *c, const char *text)
{
	struct client_text t = { .c = c };
	bool is_valid = true;

	*c = (struct drm_client){ 0 };
	while (*text && is_valid) {
		const char *end = text + strcspn(text, "\n");

		is_valid = client_line_read(&t, text, end);
		text = *end ? end + 1 : end;
	}
	if (!is_valid)
		return -EINVAL;
	if (!*c->driver)
		return -ENOENT;
	c->has_busy = !strcmp(c->driver, "amdgpu");
	for (uint32_t i = 0; i < c->nr_engines; i++) {
		struct drm_engine *e = &c->engines[i];

		e->has_cycles = e->has_cycles && e->clock_cycles;
		c->has_busy |= e->has_ns || e->has_cycles;
	}
	regions_sum(&t);
	return 0;
}

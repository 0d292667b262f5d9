// SPDX-License-Identifier: BSD-2-Clause
#include "measure/drm_count.h"

#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

#define CLIENTS 2048

struct drm_count *drm_count_find(struct drm_counts *l, uint32_t device, uint64_t id)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->counts[i].id == id && l->counts[i].device == device)
			return &l->counts[i];
	return NULL;
}

struct drm_count *drm_count_add(struct drm_counts *l, uint32_t device, uint64_t id)
{
	if (l->nr == CLIENTS)
		return NULL;
	if (l->nr == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct drm_count *more = memory_reallocarray(l->counts, room, sizeof(*more));

		if (!more)
			return NULL;
		l->counts = more;
		l->room = room;
	}
	l->counts[l->nr] = (struct drm_count){ .device = device, .id = id };
	return &l->counts[l->nr++];
}

static struct engine_count *engine_find(struct drm_count *c, const char *name)
{
	struct engine_count *e;

	for (uint32_t i = 0; i < c->nr_engines; i++)
		if (!strcmp(c->engines[i].name, name))
			return &c->engines[i];
	if (c->nr_engines == DRM_ENGINES)
		return NULL;
	e = &c->engines[c->nr_engines++];
	*e = (struct engine_count){ 0 };
	memcpy(e->name, name, strlen(name) + 1);
	return e;
}

void drm_count_begin(struct drm_count *c, const struct drm_client *now)
{
	for (uint32_t i = 0; i < now->nr_engines; i++) {
		struct engine_count *e = engine_find(c, now->engines[i].name);

		if (!e)
			continue;
		e->ns = now->engines[i].ns;
		e->cycles = now->engines[i].cycles;
	}
}

/* A driver may report less than before for a while: the larger value stays until then. */
static uint64_t engine_advance_ns(struct engine_count *e, const struct drm_engine *now)
{
	uint64_t before_ns = e->ns;

	if (now->ns <= before_ns)
		return 0;
	e->ns = now->ns;
	return now->ns / now->capacity - before_ns / now->capacity;
}

static uint64_t engine_advance_cycles(struct engine_count *e, const struct drm_engine *now,
				      uint64_t now_ns)
{
	double busy_ns = 0;

	if (e->read_ns && now->clock_cycles > e->clock_cycles && now->cycles > e->cycles) {
		busy_ns = (double)(now->cycles - e->cycles) /
			  (double)(now->clock_cycles - e->clock_cycles) *
			  (double)(now_ns - e->read_ns) / now->capacity;
		e->cycles = now->cycles;
	}
	e->clock_cycles = now->clock_cycles;
	e->read_ns = now_ns;
	return number_clamp(busy_ns);
}

uint64_t drm_count_advance(struct drm_count *c, const struct drm_client *now, uint64_t now_ns)
{
	uint64_t busy_ns = 0;

	for (uint32_t i = 0; i < now->nr_engines; i++) {
		const struct drm_engine *read = &now->engines[i];
		struct engine_count *e = engine_find(c, read->name);

		if (e && read->has_ns)
			busy_ns += engine_advance_ns(e, read);
		else if (e && read->has_cycles)
			busy_ns += engine_advance_cycles(e, read, now_ns);
	}
	c->has_busy |= now->has_busy;
	c->has_memory = now->has_memory;
	c->memory_bytes = now->memory_bytes;
	return busy_ns;
}

void drm_count_pause(struct drm_count *c)
{
	for (uint32_t i = 0; i < c->nr_engines; i++)
		c->engines[i].read_ns = 0;
}

void drm_counts_drop_closed(struct drm_counts *l, uint64_t pass)
{
	for (size_t i = 0; i < l->nr;)
		if (l->counts[i].pass != pass)
			l->counts[i] = l->counts[--l->nr];
		else
			i++;
}

void drm_counts_done(struct drm_counts *l)
{
	free(l->counts);
	*l = (struct drm_counts){ 0 };
}

// SPDX-License-Identifier: BSD-2-Clause
#include "board/name_index.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void name_index_init(struct name_index *x)
{
	memset(x, 0, sizeof(*x));
	if (getrandom(&x->seed, sizeof(x->seed), GRND_NONBLOCK) != (ssize_t)sizeof(x->seed))
		x->seed = clock_ns(CLOCK_MONOTONIC);
}

/* Seeded FNV-1a. */
uint64_t name_hash_stable(const char *name, size_t length, uint64_t seed)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}

static size_t name_place(const struct name_index *x, const char *name, size_t length)
{
	return name_hash_stable(name, length, x->seed) % NAME_PLACES;
}

struct name_entry *name_index_find(const struct name_index *x, const char *name, size_t length)
{
	struct name_entry *e = x->places[name_place(x, name, length)];

	while (e && !text_is(name, length, e->name))
		e = e->next;
	return e;
}

int name_index_add(struct name_index *x, struct name_entry *e, const char *name, size_t length)
{
	struct name_entry **place = &x->places[name_place(x, name, length)];

	e->name = memory_strndup(name, length);
	if (!e->name)
		return -ENOMEM;
	e->next = *place;
	*place = e;
	x->nr++;
	return 0;
}

void name_index_remove(struct name_index *x, struct name_entry *e)
{
	struct name_entry **at = &x->places[name_place(x, e->name, strlen(e->name))];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	x->nr--;
	free(e->name);
	*e = (struct name_entry){ 0 };
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * jansson's memory. Its parser ignores that an allocation for a string failed, and calls abort() in
 * the middle of a character later. So a failed allocation of the parser is served from a reserve
 * and counted as a failure: the caller checks that count and discards the result.
 */
#include "base/jansson_memory.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define RESERVE_BYTES (256 << 10) /* for a line of a run; no page of it is touched before */
#define ALIGNMENT 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(ALIGNMENT) unsigned char reserve[RESERVE_BYTES];
static size_t used, pieces;           /* of the reserve */
static _Thread_local bool is_parsing; /* else malloc() only: json_dumps() is freed by free() */

static void *jansson_allocate(size_t bytes)
{
	void *p = memory_malloc(bytes);

	if (p || !is_parsing)
		return p;
	pthread_mutex_lock(&lock);
	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (bytes <= sizeof(reserve) - used) {
		p = reserve + used;
		used += bytes;
		pieces++;
	}
	pthread_mutex_unlock(&lock);
	return p;
}

static void jansson_free(void *p)
{
	uintptr_t at = (uintptr_t)p, start = (uintptr_t)reserve;

	if (at < start || at >= start + sizeof(reserve)) {
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
	if (!--pieces)
		used = 0;
	pthread_mutex_unlock(&lock);
}

json_t *jansson_loadb(const char *text, size_t n, size_t flags, json_error_t *error)
{
	json_t *tree;

	is_parsing = true;
	tree = json_loadb(text, n, flags, error);
	is_parsing = false;
	return tree;
}

json_t *jansson_loads(const char *text, size_t flags, json_error_t *error)
{
	json_t *tree;

	is_parsing = true;
	tree = json_loads(text, flags, error);
	is_parsing = false;
	return tree;
}

void memory_init_jansson(void)
{
	json_set_alloc_funcs(jansson_allocate, jansson_free);
}

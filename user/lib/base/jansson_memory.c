// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parser of jansson ignores a failed allocation of a string and calls abort() in the middle of
 * a character later. So failed allocations of the parser are served from a reserve and counted as
 * failures: the caller checks the count and discards the result.
 */
#include "base/jansson_memory.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* enough for a line of a run; its pages are untouched until needed */
#define RESERVE_BYTES (256 << 10)
#define ALIGNMENT 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(ALIGNMENT) unsigned char reserve[RESERVE_BYTES];
static size_t used, pieces; /* bytes and blocks of the reserve in use */
/* otherwise use malloc() only: json_dumps() is freed by free() */
static _Thread_local bool is_parsing;

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

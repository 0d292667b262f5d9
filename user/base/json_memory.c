// SPDX-License-Identifier: BSD-2-Clause
/*
 * jansson's memory. Its parser takes no notice where a string it reads finds no room, and then
 * calls abort() in the middle of a character; so it gets a reserve then, which is counted as a
 * failure: who called it sees that, and takes nothing of what was read.
 */
#include "base/memory.h"

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define RESERVE_BYTES (256 << 10) /* a line of a run; no page of it is touched before */
#define ALIGNMENT 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(ALIGNMENT) unsigned char reserve[RESERVE_BYTES];
static size_t used, pieces;           /* of the reserve */
static _Thread_local bool is_parsing; /* what json_dumps() gives is freed by free() */

static void *jansson_allocate(size_t bytes)
{
	void *p = malloc(bytes); /* counted */

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

json_t *__real_json_loadb(const char *text, size_t n, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *text, size_t n, size_t flags, json_error_t *error);
json_t *__real_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error);

json_t *__wrap_json_loadb(const char *text, size_t n, size_t flags, json_error_t *error)
{
	json_t *tree;

	is_parsing = true;
	tree = __real_json_loadb(text, n, flags, error);
	is_parsing = false;
	return tree;
}

json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error)
{
	json_t *tree;

	is_parsing = true;
	tree = __real_json_loads(text, flags, error);
	is_parsing = false;
	return tree;
}

void memory_init_jansson(void)
{
	json_set_alloc_funcs(jansson_allocate, jansson_free);
}

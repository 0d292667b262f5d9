/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jansson's parser, made safe for out of memory: that of the library ignores failed allocations of
 * strings. After memory_init() each failure is counted or ends the process. The result is valid
 * only if memory_failures_of_thread() has not grown.
 */
#ifndef BASE_JANSSON_MEMORY_H
#define BASE_JANSSON_MEMORY_H

#include <jansson.h>

json_t *jansson_loadb(const char *text, size_t n, size_t flags, json_error_t *error);
json_t *jansson_loads(const char *text, size_t flags, json_error_t *error);

#endif

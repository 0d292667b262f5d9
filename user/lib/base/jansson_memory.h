/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser of jansson, safe without memory: that of the library ignores that an allocation for a
 * text failed. After memory_init() each failure is counted, or ends the process: the result counts
 * only if no failure came (memory_failures_of_thread()).
 */
#ifndef BASE_JANSSON_MEMORY_H
#define BASE_JANSSON_MEMORY_H

#include <jansson.h>

/* As json_loadb() and json_loads(). */
json_t *jansson_loadb(const char *text, size_t n, size_t flags, json_error_t *error);
json_t *jansson_loads(const char *text, size_t flags, json_error_t *error);

#endif

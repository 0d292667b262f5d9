/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and strings of the line protocol. What databases parse differently is replaced: a backslash
 * in a tag by a slash, a control character (a newline ends a point) by a blank.
 */
#ifndef EXPORT_INFLUX_TEXT_H
#define EXPORT_INFLUX_TEXT_H

#include "base/buffer.h"

#include <jansson.h>

/* Limits of the keys and values of tags, which are cut: those of a series may have 64 KiB in all.
 */
#define INFLUX_KEY_BYTES 128
#define INFLUX_VALUE_BYTES 512
#define INFLUX_STRING_BYTES 60000 /* of a field; databases accept 64 KiB */

/* Appends the key of a tag or a field, escaped. */
void influx_put_key(struct buffer *t, const char *key);
/* Appends ",key=value", or nothing if either is empty, which cannot be written. */
void influx_put_tag(struct buffer *t, const char *key, const char *value, size_t length);
/* Appends the string of a field, in quotes. */
void influx_put_string(struct buffer *t, const char *s, size_t length);
/* Appends the measurement of a pushed point; @name is a string. */
void influx_put_pushed_name(struct buffer *t, const json_t *name);

#endif

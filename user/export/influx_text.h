/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and strings in the line protocol. What databases disagree about is not written: a backslash
 * in a tag becomes a slash, a control character (the newline ends a point) a blank.
 */
#ifndef EXPORT_INFLUX_TEXT_H
#define EXPORT_INFLUX_TEXT_H

#include "base/buffer.h"

#include <jansson.h>

/* Keys and values of tags are cut to so many bytes: all of a series may take 64 KiB together. */
#define INFLUX_KEY_BYTES 128
#define INFLUX_VALUE_BYTES 512
#define INFLUX_STRING_BYTES 60000 /* of a field; 64 KiB are taken */

void influx_put_key(struct buffer *t, const char *key);
/* ",key=value", or nothing where the value is empty, which cannot be written. */
void influx_put_tag(struct buffer *t, const char *key, const char *value, size_t length);
/* The string of a field, with its quotes. */
void influx_put_string(struct buffer *t, const char *s, size_t length);
/* The measurement of a point that was pushed: @name is a string. */
void influx_put_pushed_name(struct buffer *t, const json_t *name);

#endif

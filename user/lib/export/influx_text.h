/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and strings of the line protocol. What databases parse differently is replaced: a backslash
 * in a tag by a slash, a control character (a newline ends a point) by a blank.
 */
#ifndef EXPORT_INFLUX_TEXT_H
#define EXPORT_INFLUX_TEXT_H

#include "base/buffer.h"

#include <jansson.h>
#include <stdint.h>

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

/* The tags of points: each key once, found by a hash. */

struct influx_tags {
	struct buffer text; /* owned; ",key=value" for each tag */
	size_t of_run;      /* bytes of @text with tags of the run; then follow those of a point */
	json_t *keys;       /* owned; the keys of the run's tags, as written */
	json_t *pushed;     /* owned; the keys of that point's tags, as written */
};

/* Adds the tags of the run: run, name, host, user, job, and the user's own. 0, or -ENOMEM;
 * influx_tags_done() is needed in any case. */
int influx_tags_init(struct influx_tags *t, const json_t *meta);
void influx_tags_done(struct influx_tags *t);
/* Adds those of a pushed point; one with the name of a run's tag gets a prefix. Without memory
 * @t->text.failed is set. */
void influx_tags_push(struct influx_tags *t, json_t *tags);
/* Adds one of a point whose fields are metrics; the same. */
void influx_tags_push_one(struct influx_tags *t, const char *key, const char *value);
/* Removes those of the pushed point. */
void influx_tags_pop(struct influx_tags *t);
/*
 * The name of the field @key: @key, or with as many prefixes as it takes to differ from all tags
 * (databases return only one of a tag and a field with the same name), from "time", which they
 * reject, and, if it has a prefix, from all of @fields. To be freed with free(); NULL without
 * memory.
 */
char *influx_field_name(struct influx_tags *t, const char *key, const json_t *fields);

/*
 * Gives each point a time of its own: points of the same series and time replace each other, and
 * bpfmon publishes microseconds. So each point gets another nanosecond within its microsecond.
 */

#define INFLUX_LAST_NS (INT64_MAX - 1) /* the last one that InfluxDB accepts */

struct influx_times {
	uint16_t *given; /* owned; nanoseconds used, of each microsecond, or of several together */
};

/* 0, or -ENOMEM. */
int influx_times_init(struct influx_times *t);
void influx_times_done(struct influx_times *t);
/*
 * A time in the microsecond of @epoch_ns, or near it when that is full, that was not returned
 * before and that InfluxDB accepts; 0: there were too many points to find one.
 */
uint64_t influx_times_next(struct influx_times *t, uint64_t epoch_ns);

#endif

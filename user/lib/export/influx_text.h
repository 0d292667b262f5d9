/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and strings of the line protocol. Characters that databases parse differently are replaced:
 * a backslash in a tag by a slash, a control character by a blank, as a newline would end a point.
 */
#ifndef EXPORT_INFLUX_TEXT_H
#define EXPORT_INFLUX_TEXT_H

#include "base/buffer.h"

#include <jansson.h>
#include <stdint.h>

/* Limits of tags' keys and values, which are truncated: all tags of a series may have 64 KiB. */
#define INFLUX_KEY_BYTES 128
#define INFLUX_VALUE_BYTES 512
#define INFLUX_STRING_BYTES 60000 /* of a field; databases accept 64 KiB */

/* Appends the escaped key of a tag or field. */
void influx_put_key(struct buffer *t, const char *key);
/* Appends ",key=value", or nothing if either is empty, as the format has no empty tags. */
void influx_put_tag(struct buffer *t, const char *key, const char *value, size_t length);
/* Appends the string of a field, in quotes. */
void influx_put_string(struct buffer *t, const char *s, size_t length);
/* Measurements of bpfmon itself. */
enum influx_measurement {
	INFLUX_SAMPLE,
	INFLUX_INSTANCE,
	INFLUX_PROCESS,
	INFLUX_SPAN,
	INFLUX_EVENT,
	NR_INFLUX_MEASUREMENTS
};

const char *influx_measurement_name(enum influx_measurement m);
/* Appends the measurement of a pushed point; @name is a string. Those of bpfmon get a prefix. */
void influx_put_pushed_name(struct buffer *t, const json_t *name);

/* Tags of points. Each key is written once. */

struct influx_tags {
	struct buffer text; /* owned; ",key=value" for each tag */
	size_t of_run;      /* bytes of @text with tags of the run; those of a point follow */
	json_t *keys;       /* owned; keys of the run's tags, as written */
	json_t *pushed;     /* owned; keys of the point's tags, as written */
};

/*
 * Adds the tags of the run: run, name, host, user, job, and the user's tags. Returns 0 or -ENOMEM;
 * the caller calls influx_tags_done() in either case.
 */
int influx_tags_init(struct influx_tags *t, const json_t *meta);
void influx_tags_done(struct influx_tags *t);
/*
 * Adds the tags of a pushed point, with a prefix if the run has the name; may set @t->text.failed.
 */
void influx_tags_push(struct influx_tags *t, json_t *tags);
/* Adds one tag, with a prefix for names of metrics too. */
void influx_tags_push_one(struct influx_tags *t, const char *key, const char *value);
/* Removes the tags of the point. */
void influx_tags_pop(struct influx_tags *t);
/*
 * Returns the name of the field @key, with as many prefixes as needed to differ from all tags
 * (databases return only one of a tag and a field with the same name), from "time", which they
 * reject, and, if prefixed, from all of @fields. The caller frees it with free(). Returns NULL if
 * memory runs out.
 */
char *influx_field_name(struct influx_tags *t, const char *key, const json_t *fields);

/*
 * Makes the time of each point unique: points of the same series and time replace each other, while
 * bpfmon publishes microseconds. Each point gets another nanosecond within its microsecond.
 */

#define INFLUX_LAST_NS (INT64_MAX - 1) /* the last time that InfluxDB accepts */

struct influx_times {
	uint16_t *given; /* owned; nanoseconds used, per slot */
};

/* Returns 0 or -ENOMEM. */
int influx_times_init(struct influx_times *t);
void influx_times_done(struct influx_times *t);
/*
 * Returns an unused time within the microsecond of @epoch_ns, or near it if that is full, that
 * InfluxDB accepts; 0 if there were too many points to find one.
 */
uint64_t influx_times_next(struct influx_times *t, uint64_t epoch_ns);

#endif

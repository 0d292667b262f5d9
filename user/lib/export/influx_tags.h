/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of points: each key once, found by a hash. */
#ifndef EXPORT_INFLUX_TAGS_H
#define EXPORT_INFLUX_TAGS_H

#include "base/buffer.h"

#include <jansson.h>

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

#endif

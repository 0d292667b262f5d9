/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of points: each key once, found without going through the others. */
#ifndef EXPORT_INFLUX_TAGS_H
#define EXPORT_INFLUX_TAGS_H

#include "base/buffer.h"

#include <jansson.h>

struct influx_tags {
	struct buffer text; /* owned; as they are written: ",key=value" each */
	size_t of_run;      /* bytes of it; behind them are those of one point */
	json_t *keys;       /* owned; as they are written: those of the run, */
	json_t *pushed;     /* owned; and those of that point */
};

/* The tags of the run: run, name, host, user, job, and those that its user gave. -ENOMEM. In any
 * case to be given to influx_tags_done(). */
int influx_tags_init(struct influx_tags *t, const json_t *meta);
void influx_tags_done(struct influx_tags *t);
/* Adds those of a point that was pushed; a tag of the run keeps its name. @t->text.failed: there is
 * no memory. */
void influx_tags_push(struct influx_tags *t, json_t *tags);
/* Takes them back. */
void influx_tags_pop(struct influx_tags *t);
/*
 * The name of the field @key: of a tag and a field of one name databases tell but one, so it is
 * neither that of one of the tags nor, if it is another than @key, that of one of @fields; nor
 * "time", which no database takes. To be freed; NULL without memory.
 */
char *influx_field_name(struct influx_tags *t, const char *key, const json_t *fields);

#endif

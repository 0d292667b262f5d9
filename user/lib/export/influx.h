/* SPDX-License-Identifier: BSD-2-Clause */
/* InfluxDB's line protocol of a run while it goes on; the format influx is that of stored ones. */
#ifndef EXPORT_INFLUX_H
#define EXPORT_INFLUX_H

#include "export/export.h"

struct influx_live;

/*
 * Begins with the run's meta line. Points go to @pass as lines, when they are flushed or many.
 * Returns NULL if out of memory; the caller calls influx_live_free().
 */
struct influx_live *influx_live_new(const struct line *meta, export_fn pass, void *context);
/* Adds the points of a line. Returns 0 or a negative errno, as of @pass. */
int influx_live_put(struct influx_live *l, const struct line *line);
/* Passes on what there is. Returns 0 or a negative errno, as of @pass. */
int influx_live_flush(struct influx_live *l);
/* Does nothing with NULL. */
void influx_live_free(struct influx_live *l);

#endif

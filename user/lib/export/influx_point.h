/* SPDX-License-Identifier: BSD-2-Clause */
/* Points of the line protocol, put into the text of an exporter whose state is a struct influx. */
#ifndef EXPORT_INFLUX_POINT_H
#define EXPORT_INFLUX_POINT_H

#include "export/export.h"
#include "export/influx_tags.h"
#include "export/influx_time.h"

struct influx {
	struct influx_tags tags;
	struct influx_times times; /* of all points but samples, whose times have ns already */
};

/* Puts a measurement and all tags. */
void influx_begin_point(struct exporter *e, const char *measurement);
/* Puts what separates the fields of a point, and a key. */
void influx_begin_field(struct exporter *e, bool *is_first, const char *key);
/* A field @v / 10^@decimals: an integer if @decimals is 0. */
void influx_put_decimal(struct exporter *e, bool *is_first, const char *key, uint64_t v,
			unsigned decimals);
void influx_put_metrics(struct exporter *e, bool *is_first, const uint64_t *value,
			const struct metric_set *have);
/* Ends a point. 0, or an error of export_flush_full(). */
int influx_end_point(struct exporter *e, uint64_t epoch_ns);
/* The same, at a time that no other point of these has. -EOVERFLOW: there is none. */
int influx_end_point_near(struct exporter *e, uint64_t epoch_ns);
/* The end of the run: the time of what had not ended then. */
uint64_t influx_run_end(const struct exporter *e);
/* A point of a span, at its end. The same errors. */
int influx_put_span(struct exporter *e, const struct span *s);

#endif

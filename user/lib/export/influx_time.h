/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives each point a time of its own: points of the same series and time replace each other, and
 * bpfmon publishes microseconds. So each point gets another nanosecond within its microsecond.
 */
#ifndef EXPORT_INFLUX_TIME_H
#define EXPORT_INFLUX_TIME_H

#include <stdint.h>

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

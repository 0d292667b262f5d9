/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times that no two points share: points of one series and time replace each other, and ours are
 * published in microseconds. So each gets a nanosecond of its own.
 */
#ifndef EXPORT_INFLUX_TIME_H
#define EXPORT_INFLUX_TIME_H

#include <stdint.h>

#define INFLUX_LAST_NS (INT64_MAX - 1) /* that InfluxDB takes */

struct influx_times {
	uint16_t *given; /* owned; of each microsecond, or of several, how many nanoseconds */
};

/* -ENOMEM. */
int influx_times_init(struct influx_times *t);
void influx_times_done(struct influx_times *t);
/*
 * A time in the microsecond of @epoch_ns, or near it when that is full, that was not given before,
 * and that InfluxDB takes; 0: there were too many points to find one.
 */
uint64_t influx_times_next(struct influx_times *t, uint64_t epoch_ns);

#endif

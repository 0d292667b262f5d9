// SPDX-License-Identifier: BSD-2-Clause
#include "export/influx_time.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS (1UL << 20) /* 2 MiB; enough times for a billion points */
#define NS_OF_US 1000
#define LAST_US (INT64_MAX / NS_OF_US - 1) /* all its nanoseconds are within InfluxDB's range */
#define TRIES (1UL << 24)

int influx_times_init(struct influx_times *t)
{
	t->given = calloc(SLOTS, sizeof(*t->given));
	return t->given ? 0 : -ENOMEM;
}

void influx_times_done(struct influx_times *t)
{
	free(t->given);
	t->given = NULL;
}

/*
 * Microseconds that share a slot still use each nanosecond once: they are only full earlier. So a
 * table of fixed size suffices for any number of points.
 */
static uint16_t *influx_times_slot(struct influx_times *t, uint64_t us)
{
	return &t->given[(us * 0x9e3779b97f4a7c15ULL) >> 44];
}

uint64_t influx_times_next(struct influx_times *t, uint64_t epoch_ns)
{
	uint64_t us = epoch_ns / NS_OF_US;
	uint16_t *given;

	if (us > LAST_US)
		us = LAST_US;
	if (!us) /* 0 is the error */
		us = 1;
	for (uint64_t i = 0; i < TRIES; i++) {
		given = influx_times_slot(t, us);
		if (*given < NS_OF_US)
			return us * NS_OF_US + (*given)++;
		us += us > LAST_US / 2 ? -1ULL : 1; /* so that the end is never reached */
	}
	return 0;
}

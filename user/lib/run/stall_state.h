/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a run is stalled, according to its last stall event. */
#ifndef RUN_STALL_STATE_H
#define RUN_STALL_STATE_H

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct stall_state {
	bool is_stalled;
	uint64_t since_epoch_ns; /* time of the last sample with activity before it; 0: unknown */
	char reason[512];        /* what its processes wait for, as received; empty: unknown */
};

/* Updates @s from a json_t of event "stalled" or "resumed". Returns false for other events. */
bool stall_state_update(struct stall_state *s, const void *event);
/* Appends the object "stalled" with "since_time" and "reason" if the run is stalled. */
void stall_state_write(const struct stall_state *s, struct jsonw *j);

#endif

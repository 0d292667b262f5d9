/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a run is stalled, according to its last stall event, and how long it was in all. */
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

/* All stalls of a run. */
struct stalls {
	uint64_t ns, longest_ns; /* of those that have ended */
	uint64_t since_epoch_ns; /* of the one that goes on; 0: none */
	char cause[512];         /* of that one, as received; empty: unknown */
	char longest_cause[512];
};

/* Adds a json_t. Only events "stalled" and "resumed" have an effect. */
void stalls_add(struct stalls *s, const void *event);
/* Ends the stall that goes on at the end of the run. */
void stalls_end(struct stalls *s, uint64_t epoch_ns);

#endif

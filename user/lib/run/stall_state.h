/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a run is stalled now, as the last event of a stall has it. */
#ifndef RUN_STALL_STATE_H
#define RUN_STALL_STATE_H

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct stall_state {
	bool is_stalled;
	uint64_t
		since_epoch_ns; /* of the last sample before which something was done; 0: unknown */
	char reason[512];       /* what its processes wait for, as it came; empty: not known */
};

/*
 * Takes the event @event, a json_t: of "stalled" and "resumed" @s is the new state. False: it is
 * another event, or none, and nothing changes.
 */
bool stall_state_take(struct stall_state *s, const void *event);
/* Appends the object "stalled" with "since_time" and "reason"; nothing of a run that is not. */
void stall_state_write(const struct stall_state *s, struct jsonw *j);

#endif

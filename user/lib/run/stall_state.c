// SPDX-License-Identifier: BSD-2-Clause
#include "run/stall_state.h"

#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LATEST_SECONDS 9e9 /* since 1970; larger values overflow nanoseconds */

bool stall_state_update(struct stall_state *s, const void *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	const char *reason = json_string_value(json_object_get(event, "reason"));
	double since = json_number_value(json_object_get(event, "since_time"));
	bool is_stalled = name && !strcmp(name, "stalled");

	if (!is_stalled && (!name || strcmp(name, "resumed") != 0))
		return false;
	*s = (struct stall_state){ .is_stalled = is_stalled };
	if (since > 0 && since < LATEST_SECONDS) /* published in microseconds */
		s->since_epoch_ns = (uint64_t)llround(since * 1e6) * (NSEC_PER_SEC / 1000000);
	snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
	return true;
}

void stall_state_write(const struct stall_state *s, struct jsonw *j)
{
	if (!s->is_stalled)
		return;
	jsonw_object(j, "stalled");
	if (s->since_epoch_ns)
		jsonw_decimal(j, "since_time", s->since_epoch_ns / 1000, 6);
	if (*s->reason)
		jsonw_string(j, "reason", s->reason);
	jsonw_object_end(j);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/stall_state.h"

#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LATEST_SECONDS 9e9 /* since 1970; larger values overflow nanoseconds */

static uint64_t event_epoch(const json_t *event, const char *key)
{
	const double at = json_number_value(json_object_get(event, key));

	/* published in microseconds */
	return at > 0 && at < LATEST_SECONDS
		       ? (uint64_t)llround(at * 1e6) * (NSEC_PER_SEC / 1000000)
		       : 0;
}

bool stall_state_update(struct stall_state *s, const void *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	const char *reason = json_string_value(json_object_get(event, "reason"));
	bool is_stalled = name && !strcmp(name, "stalled");

	if (!is_stalled && (!name || strcmp(name, "resumed") != 0))
		return false;
	*s = (struct stall_state){ .is_stalled = is_stalled,
				   .since_epoch_ns = event_epoch(event, "since_time") };
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

void stalls_add(struct stalls *s, const void *event)
{
	const char *cause = json_string_value(json_object_get(event, "cause"));
	struct stall_state now;

	if (!stall_state_update(&now, event))
		return;
	stalls_end(s, event_epoch(event, "time"));
	if (!now.is_stalled)
		return;
	s->since_epoch_ns = now.since_epoch_ns;
	snprintf(s->cause, sizeof(s->cause), "%s", cause ? cause : now.reason);
}

void stalls_end(struct stalls *s, uint64_t epoch_ns)
{
	const uint64_t ns = s->since_epoch_ns && epoch_ns > s->since_epoch_ns
				    ? epoch_ns - s->since_epoch_ns
				    : 0;

	s->since_epoch_ns = 0;
	s->ns += ns;
	if (ns <= s->longest_ns)
		return;
	s->longest_ns = ns;
	memcpy(s->longest_cause, s->cause, sizeof(s->cause));
}

// SPDX-License-Identifier: BSD-2-Clause
#include "text/answer.h"

#include "base/number.h"
#include "text/summary_parts.h"

#include <math.h>

#define KIB 1024ULL
#define MIB (KIB * KIB)

/* Two digits that count, in the unit that it is shown in, and never less than @bytes. */
static uint64_t request_round_up(uint64_t bytes)
{
	uint64_t unit = MIB, step;

	while (bytes >= 1000 * unit && unit < MIB * MIB)
		unit *= KIB;
	step = bytes >= 100 * unit                 ? 10 * unit
	       : bytes >= 10 * unit || unit == MIB ? unit
						   : (unit + 9) / 10;
	return (bytes + step - 1) / step * step;
}

/* The share is added to what may be near the largest number. */
static uint64_t request_add_margin(uint64_t bytes)
{
	return request_round_up(
		bytes > UINT64_MAX / 4 ? bytes : bytes + bytes * ANSWER_MARGIN_PERCENT / 100);
}

/* Why the next run may need more than this one; NULL: it is no reason that is known. */
static const char *answer_find_doubt(const struct summary *s)
{
	if (s->oom_kills)
		return "of a run that was out of memory";
	if (s->is_attached)
		return "while attached";
	if (s->has_status && (s->signal || s->exit_code))
		return "of a run that failed";
	if (!s->complete || !s->has_status)
		return "of an incomplete run";
	return NULL;
}

static void answer_set_request(struct answer *a, const struct summary *s)
{
	a->doubt = answer_find_doubt(s);
	if (s->oom_kills && s->oom.limit_bytes) {
		a->basis = REQUEST_LIMIT;
		a->request_bytes = s->oom.limit_bytes;
		a->is_least = true;
		return;
	}
	a->needed = memory_needed_of(s);
	if (!a->needed.bytes)
		return;
	a->basis = REQUEST_NEEDED;
	a->is_least = a->doubt || needed_is_least(&a->needed) || a->needed.unmapped_bytes;
	a->request_bytes = request_add_margin(a->needed.bytes);
}

static void cores_lower(uint64_t *cores, const json_t *v)
{
	double n = json_is_number(v) ? json_number_value(v) : 0;
	uint64_t thousandths = n > 0 ? number_clamp(round(n * 1000)) : 0;

	if (thousandths && (!*cores || thousandths < *cores))
		*cores = thousandths;
}

uint64_t answer_cores_available(const json_t *meta)
{
	const json_t *limits = json_object_get(meta, "limits");
	uint64_t cores = 0;

	cores_lower(&cores, json_object_get(json_object_get(meta, "system"), "cpus"));
	cores_lower(&cores, json_object_get(limits, "cpus_allowed_count"));
	cores_lower(&cores, json_object_get(limits, "cpu_max_cores"));
	return cores;
}

void answer_of_run(struct answer *a, const struct summary *s, const json_t *meta,
		   struct phase_times *times)
{
	*a = (struct answer){ .wall_ns = s->wall_ns };
	answer_set_request(a, s);
	a->has_cores = summary_has_total(s, M_cpu) && s->wall_ns;
	if (a->has_cores) {
		a->cores_used = summary_cores_mean(s);
		a->cores_available = answer_cores_available(meta);
	}
	a->has_phase = times && s->wall_ns && phase_times_longest(times, s->wall_ns, &a->phase);
}

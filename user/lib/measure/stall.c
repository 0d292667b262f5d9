// SPDX-License-Identifier: BSD-2-Clause
#include "measure/stall.h"

#include "base/clock.h"

/*
 * A loop that starts a small program every 5 s to poll reads 1 to 10 KiB/s for that, and logs a
 * line: no more is no work.
 */
#define READ_BYTES_A_SECOND (16 << 10)
#define WRITTEN_BYTES_A_SECOND (2 << 10)

static struct stall_work work_of(const struct account *a, uint64_t gpu_ns)
{
	return (struct stall_work){ .busy_ns = a->cpu + gpu_ns,
				    .read_bytes = a->rchar + a->read + a->calls.net_rx,
				    .written_bytes = a->wchar + a->write + a->calls.net_tx };
}

/* A counter that fell was corrected: no work. */
static bool has_grown_beyond(uint64_t now, uint64_t before, double most)
{
	return now > before && (double)(now - before) > most;
}

/*
 * A polling loop may be active right after the sample compared with: divides by at least after_ns.
 */
static bool is_idle(const struct stall *s, uint64_t elapsed_ns, const struct stall_work *now)
{
	const struct stall_work *before = &s->work;
	uint64_t passed_ns = elapsed_ns - s->work_ns;
	double seconds =
		(double)(passed_ns > s->after_ns ? passed_ns : s->after_ns) / (double)NSEC_PER_SEC;

	return !has_grown_beyond(now->busy_ns, before->busy_ns,
				 seconds * (double)s->below_ppm * 1000) &&
	       !has_grown_beyond(now->read_bytes, before->read_bytes,
				 seconds * READ_BYTES_A_SECOND) &&
	       !has_grown_beyond(now->written_bytes, before->written_bytes,
				 seconds * WRITTEN_BYTES_A_SECOND);
}

static void stall_compare_from(struct stall *s, uint64_t elapsed_ns, const struct stall_work *now)
{
	s->work_ns = elapsed_ns;
	s->work = *now;
}

bool stall_update(struct stall *s, uint64_t elapsed_ns, const struct account *totals,
		  uint64_t gpu_ns)
{
	const struct stall_work now = work_of(totals, gpu_ns);
	bool was_stalled = s->is_stalled;

	if (!s->after_ns)
		return false;
	s->is_stalled = totals->processes && is_idle(s, elapsed_ns, &now);
	if (!s->is_stalled) {
		stall_compare_from(s, elapsed_ns, &now);
		s->since_ns = elapsed_ns;
	} else if (!was_stalled) {
		s->is_stalled = elapsed_ns - s->since_ns >= s->after_ns;
	}
	if (s->is_stalled && !was_stalled)
		s->begun_ns = s->since_ns;
	/* do not average over a longer time: a second of work after an hour of stall must count */
	if (s->is_stalled && elapsed_ns - s->work_ns >= s->after_ns)
		stall_compare_from(s, elapsed_ns, &now);
	return s->is_stalled != was_stalled;
}

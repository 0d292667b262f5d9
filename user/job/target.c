// SPDX-License-Identifier: BSD-2-Clause
#include "job/target.h"

#include "base/clock.h"
#include "job/session.h"
#include "wire/writer.h"

#include <stdlib.h>
#include <unistd.h>

/* A service that is started anew has its cgroup again within that time. */
#define GRACE_NS (2 * NSEC_PER_SEC)
/* The kernel brings a running task's CPU time up to date at its ticks; the slowest are 100 a
 * second.
 */
#define TICK_NS (10 * NSEC_PER_MSEC)

static const struct cgroup_target *named(const struct session *s)
{
	return s->options->tracker.cgroup;
}

int target_seed(struct session *s)
{
	const pid_t own[] = { getpid(), getppid(), s->options->recorder, 0 };

	return tracker_seed_cgroup(&s->tracker, s->target.id, cgroup_target_depth(named(s)), own);
}

static void tell(struct session *s, uint64_t time_ns, const char *event)
{
	if (!s->start_ns || time_ns < s->start_ns) /* while it was waited for */
		return;
	write_cgroup_event(&s->json, s->run, time_ns - s->start_ns, event, named(s)->cg.path);
	stream_put(&s->stream, &s->json);
}

static void removed(struct session *s, uint64_t time_ns)
{
	s->target.gone_ns = time_ns;
	tell(s, time_ns, "cgroup_removed");
}

static void made_again(struct session *s, uint64_t id, uint64_t time_ns)
{
	s->target.id = id;
	s->target.gone_ns = 0;
	s->target.is_new = s->target.was_remade = true;
	cgroup_stat_reopen(&s->cgroup);
	tell(s, time_ns, "cgroup_recreated");
}

void target_event(struct session *s, const struct cgroup_event *e)
{
	if (e->news == CGROUP_MADE)
		made_again(s, e->id, e->time_ns);
	else if (e->news == CGROUP_REMOVED && e->id == s->target.id)
		removed(s, e->time_ns);
	else if (e->news == CGROUP_MOVES && !s->tracker.is_detached)
		tracker_drain(&s->tracker, NULL, NULL);
}

void target_look(struct session *s)
{
	uint64_t id = cgroup_target_id(named(s)), now = clock_ns(CLOCK_MONOTONIC);

	if (s->start_ns)            /* nothing can be told before the run has begun */
		session_consume(s); /* the programs know better when it was */
	if (id == s->target.id || (!id && s->target.gone_ns))
		return;
	if (!id) {
		removed(s, now);
		return;
	}
	made_again(s, id, now);
	target_seed(s);
}

void target_compare(struct session *s, const struct sample *smp, uint64_t since_ns)
{
	uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - since_ns + 2 * TICK_NS;
	uint64_t ours = smp->value[M_cpu], its = smp->value[M_cgroup_cpu];
	int64_t more = (int64_t)(its - ours), step = more - s->target.told_ns;
	uint64_t tolerated = s->run->cpus * took_ns + TICK_NS;

	s->target.has_differed = sample_has(smp, M_cpu) && sample_has(smp, M_cgroup_cpu);
	if (!s->target.has_differed)
		return;
	/* what lives has gone on between the two readings; an end takes a little, too */
	s->target.differed_ns =
		(uint64_t)llabs(more) + (s->live ? s->run->cpus * (took_ns - TICK_NS) : TICK_NS);
	if (tolerated < its / 100)
		tolerated = its / 100;
	if ((uint64_t)llabs(step) <= tolerated && !s->target.is_new)
		return;
	s->target.told_ns = more;
	if (s->target.is_new) { /* what the old one said last, nobody has heard */
		s->target.is_new = false;
		return;
	}
	write_cgroup_difference(&s->json, s->run, smp, named(s)->cg.path);
	stream_put(&s->stream, &s->json);
}

/* CPU time is added up at ticks. */
static uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return TICK_NS;
	return (uint64_t)tick.tv_sec * NSEC_PER_SEC + (uint64_t)tick.tv_nsec;
}

uint64_t target_unsure_ns(const struct session *s)
{
	const struct tracking *t = tracker_tracking(&s->tracker);
	uint64_t all = t->seeded - s->run->seeded_tasks + t->moved_out;
	uint64_t late = all > t->moves_seen ? all - t->moves_seen : 0;

	uint64_t most = t->moves_running * tick_ns() + late * (s->longest_ns + tick_ns());

	if (s->target.was_remade || !s->target.has_differed || most < s->target.differed_ns)
		return most;
	return s->target.differed_ns;
}

uint64_t target_end_ns(const struct session *s)
{
	return s->target.gone_ns ? s->target.gone_ns + GRACE_NS : UINT64_MAX;
}

// SPDX-License-Identifier: BSD-2-Clause
/* How the tracker finds its first processes. */
#include "measure/tracker.h"

#include "base/clock.h"
#include "bpfmon.skel.h"

#include <bpf/libbpf.h>
#include <errno.h>

#define MAX_SEED_PASSES 64

int tracker_follow(struct tracker *t, pid_t pid)
{
	int err;

	if (t->proc)
		return proc_source_follow(t->proc, pid);
	t->skel->bss->root_account.tree = (__u64)pid;
	t->skel->bss->root_pids[0] = (__u32)pid;
	t->skel->bss->nr_root_pids = 1;
	err = tracker_adopt(t);
	t->skel->bss->nr_root_pids = 0;
	if (err)
		return err;
	return TASKS_ALL(t->skel->bss->tracking.tasks) ? 0 : -ESRCH;
}

int tracker_seed_sockets(struct tracker *t)
{
	const uint64_t seeded = t->skel->bss->tracking.seeded;

	if (!(t->optional.there & OPTIONAL_BIT(OPTIONAL_SEED_SOCKETS)) ||
	    t->seeded_sockets == seeded)
		return 0;
	t->seeded_sockets = seeded;
	return iterator_run(t->optional.links[OPTIONAL_SEED_SOCKETS]);
}

/*
 * A pass may reach a child before its parent: passes are repeated until one adds nothing. The hooks
 * add what is born meanwhile.
 */
int tracker_seed_again(struct tracker *t)
{
	const volatile struct tracking *now = &t->skel->bss->tracking;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	t->skel->bss->seeding = true;
	for (int i = 0; !err && i < MAX_SEED_PASSES; i++) {
		uint64_t seeded = now->seeded;

		err = tracker_adopt(t);
		if (now->seeded == seeded)
			break;
	}
	t->seeded_ns = clock_ns(CLOCK_MONOTONIC);
	t->skel->bss->seeded_at_ns = t->seeded_ns;
	t->skel->bss->seeding = false;
	t->seed_ns = t->seeded_ns - start;
	return err ? err : tracker_seed_sockets(t);
}

static int tracker_seed_from_proc(struct tracker *t, const pid_t *pids, size_t nr)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = proc_source_seed(t->proc, pids, nr);

	t->seeded_ns = clock_ns(CLOCK_MONOTONIC);
	t->seed_ns = t->seeded_ns - start;
	return err;
}

int tracker_seed(struct tracker *t, const pid_t *pids, size_t nr)
{
	int err;

	if (nr > MAX_TARGETS)
		return -E2BIG;
	if (t->proc)
		return tracker_seed_from_proc(t, pids, nr);
	t->skel->bss->root_account.tree = (__u64)pids[0];
	for (size_t i = 0; i < nr; i++)
		t->skel->bss->root_pids[i] = (__u32)pids[i];
	t->skel->bss->nr_root_pids = (__u32)nr;
	err = tracker_seed_again(t);
	t->skel->bss->nr_root_pids = 0;
	return err;
}

int tracker_seed_node(struct tracker *t)
{
	return tracker_seed_again(t);
}

int tracker_seed_cgroup(struct tracker *t, uint64_t id, unsigned depth, const pid_t *own)
{
	if (!t->skel->bss->root_account.cgroup) /* a cgroup that is made again keeps the account */
		t->skel->bss->root_account.cgroup = id;
	for (size_t i = 0; own[i] && i < MAX_OWN; i++)
		t->skel->bss->own_pids[i] = (__u32)own[i];
	if (t->skel->bss->cgroup_target != id)
		t->skel->bss->target_level = depth;
	t->skel->bss->cgroup_target = id;
	return tracker_seed_again(t);
}

bool tracker_has_found(const struct tracker *t)
{
	return tracker_tracking(t)->seeded > 0;
}

bool tracker_is_in_a_pid_namespace(const struct tracker *t)
{
	return !t->proc && t->skel->bss->pid_level > 0;
}

void tracker_baseline(const struct tracker *t, uint64_t *values, struct metric_set *have)
{
	const struct task_counters *used;
	uint64_t ticks;

	if (t->proc) {
		proc_source_baseline(t->proc, &t->usable, values, have);
		return;
	}
	used = &t->skel->bss->baseline;
	ticks = used->utime + used->stime;
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(&t->usable, M_##base) &&                                                    \
	    !(t->skel->bss->baseline_lacks_io && metric_get(M_##base)->group == GROUP_IO)) {       \
		values[M_##base] = used->base;                                                     \
		metric_put(have, M_##base);                                                        \
	}
/* those of ended threads are not kept */
#define DELAY_METRIC(base, ...)
#include "bpfmon/metrics.def"
	if (!ticks || !metric_has(have, M_cpu))
		return;
	values[M_system] = (uint64_t)((double)used->cpu * ((double)used->stime / (double)ticks));
	values[M_user] = used->cpu - values[M_system];
	if (metric_has(&t->usable, M_system))
		metric_put(have, M_system);
	if (metric_has(&t->usable, M_user))
		metric_put(have, M_user);
}

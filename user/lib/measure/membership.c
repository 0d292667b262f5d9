// SPDX-License-Identifier: BSD-2-Clause
/* Which processes are tracked, and in which account: adopts, moves, retires and kills them. */
#include "measure/tracker.h"

#include "base/clock.h"
#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#define MAX_SEED_PASSES 64

const struct tracking *tracker_tracking(const struct tracker *t)
{
	return t->proc ? proc_source_tracking(t->proc) : &t->skel->bss->tracking;
}

/*
 * Seeding: the hooks are attached first. Then passes over all tasks adopt the targets and each task
 * of a process, or with a parent, that is tracked, until a pass adds nothing: a pass may reach a
 * child before its parent. Births in between are seen by the hooks. The counters of a seeded task
 * become its first `last`, so that the first commit adds only what came after; their sum is the
 * baseline. The baseline includes ended threads but not reaped children. The kernel keeps the I/O
 * of both in one sum: where there were both, the baseline has no I/O. High-water marks have no
 * baseline.
 */

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
	if (!t->skel->bss->root_account.cgroup) /* a recreated cgroup keeps the account */
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
/* delays of ended threads are not kept */
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

static int request_run(struct tracker *t, const struct move_request *request)
{
	struct move_request *move;
	struct bpf_link *link;
	int err;

	if (t->proc)
		return -EOPNOTSUPP;
	move = &t->skel->bss->move;
	*move = *request;
	move->result = -ESRCH;
	link = iterator_over_process(t->skel->progs.reassign__process, (pid_t)request->pid);
	err = link ? iterator_run(link) : -errno;
	bpf_link__destroy(link);
	return err ? err : move->result;
}

int tracker_adopt(struct tracker *t)
{
	return t->proc ? proc_source_drain(t->proc, false, NULL, NULL)
		       : iterator_run(t->adopt_link);
}

int tracker_find(struct tracker *t, pid_t pid, struct process_record *r)
{
	const struct move_request question = { .pid = (__u32)pid, .is_question = 1 };
	const struct process_record *known;
	struct drain_row row;
	int err;

	if (t->proc) {
		known = proc_source_find_pid(t->proc, pid);
		if (known)
			*r = *known;
		return known ? 0 : -ESRCH;
	}
	err = request_run(t, &question);
	if (err)
		return err;
	row.signal = t->skel->bss->move.signal;
	row.serial = t->skel->bss->move.serial;
	return tracker_process(t, &row, r, NULL) ? -ESRCH : 0;
}

int tracker_move(struct tracker *t, pid_t pid, const struct account_key *to)
{
	const struct move_request request = { .to = *to, .pid = (__u32)pid };

	if (t->proc)
		return proc_source_move(t->proc, pid, to);
	return request_run(t, &request);
}

int tracker_move_anew(struct tracker *t, pid_t pid, const struct account_key *to, uint32_t flags)
{
	const struct move_request request = { .to = *to, .pid = (__u32)pid, .flags = flags };

	return request_run(t, &request);
}

int tracker_remove_account(struct tracker *t, const struct account_key *key, struct account *total)
{
	int err;

	if (t->proc)
		err = proc_source_remove(t->proc, key, total);
	else
		err = bpf_map_lookup_and_delete_elem(bpf_map__fd(t->skel->maps.accounts), key,
						     total);
	if (err)
		return err;
	account_add(&t->removed, total);
	return 0;
}

struct taker {
	void (*record)(void *context, const struct process_record *r);
	void *context;
	int nr;
};

static void record_take(void *context, const void *item)
{
	struct taker *t = context;

	t->nr++;
	t->record(t->context, item);
}

int tracker_retire(struct tracker *t, const struct account_key *from, const struct account_key *to,
		   void (*record)(void *context, const struct process_record *r), void *context)
{
	struct taker taker = { record, context, 0 };
	int err;

	if (t->proc)
		return proc_source_retire(t->proc, record, context);
	t->skel->bss->retire = (struct retire_request){ .from = *from, .to = *to };
	err = walker_run(&t->retire, record_take, &taker);
	if (err)
		return err;
	return t->skel->bss->retire.closing ? -EAGAIN : taker.nr;
}

/* Not without BPF, nor where the kernel refuses the program. */
static bool tracker_can_end(const struct tracker *t)
{
	return t->skel && t->optional.there & OPTIONAL_BIT(OPTIONAL_ENDS);
}

int tracker_kill_start(struct tracker *t, uint64_t tree, uint32_t uid)
{
	struct bpf_link **link = &t->optional.links[OPTIONAL_ENDS];

	if (!tracker_can_end(t))
		return -EOPNOTSUPP;
	if (bpf_map_update_elem(bpf_map__fd(t->skel->maps.ending), &tree, &uid, BPF_ANY))
		return -errno;
	if (!*link)
		*link = bpf_program__attach(t->skel->progs.ends__call);
	return *link ? 0 : -errno;
}

void tracker_kill_stop(struct tracker *t, uint64_t tree)
{
	struct bpf_link **link = &t->optional.links[OPTIONAL_ENDS];
	uint64_t other;
	int fd;

	if (!tracker_can_end(t) || !*link)
		return;
	fd = bpf_map__fd(t->skel->maps.ending);
	bpf_map_delete_elem(fd, &tree);
	if (!bpf_map_get_next_key(fd, NULL, &other))
		return;
	bpf_link__destroy(*link);
	*link = NULL;
}

int tracker_process(const struct tracker *t, const struct drain_row *row, struct process_record *r,
		    unsigned *threads)
{
	const struct process_record *known;
	struct process_entry entry;

	if (t->proc) {
		known = proc_source_find(t->proc, row->signal, row->serial);
		if (known)
			*r = *known;
		if (known && threads)
			*threads = known->threads_total;
		return known ? 0 : -ENOENT;
	}
	if (bpf_map__lookup_elem(t->skel->maps.processes, &row->signal, sizeof(row->signal), &entry,
				 sizeof(entry), 0) ||
	    entry.event.rec.serial != row->serial)
		return -ENOENT;
	*r = entry.event.rec;
	if (threads)
		*threads = entry.alive_tasks;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which thread says most about a process: one that something is wrong with, or else the main
 * thread, as far as it does not itself wait for other threads; threads of libraries come last.
 */
#include "waits/threads.h"

#include "waits/look.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is further up may be a consequence of what is below. */
static const unsigned char kind_rank[NR_WAIT_KINDS] = {
	[WAIT_RUNS] = 100,      [WAIT_STOPPED] = 95,   [WAIT_TRACED] = 95, [WAIT_FROZEN] = 95,
	[WAIT_DISK] = 90,       [WAIT_SERVER] = 89,    [WAIT_LOCK] = 85,   [WAIT_PIPE_OPEN] = 80,
	[WAIT_PIPE_WRITE] = 78, [WAIT_PIPE_READ] = 76, [WAIT_SEND] = 74,   [WAIT_RECEIVE] = 72,
	[WAIT_CONNECT] = 72,    [WAIT_FILE] = 70,      [WAIT_CHILD] = 68,  [WAIT_TERMINAL] = 66,
	[WAIT_IPC] = 60,        [WAIT_MUTEX] = 55,     [WAIT_URING] = 50,  [WAIT_OTHER] = 48,
	[WAIT_ACCEPT] = 45,     [WAIT_POLL] = 40,      [WAIT_SLEEP] = 35,  [WAIT_UNREAD] = 30,
	[WAIT_SIGNAL] = 25,     [WAIT_JOIN] = 20,      [WAIT_FUTEX] = 15,  [WAIT_IDLE] = 5,
};

/* Beginnings of the names of threads that libraries and runtimes start for themselves. */
static const char *const helper_names[] = {
	"V8Worker",
	"libuv-worker",
	"DelayedTaskSche",
	"GC Thread",
	"G1 ",
	"C1 Comp",
	"C2 Comp",
	"VM ",
	"Signal Dispatch",
	"Reference Handl",
	"Finalizer",
	"Common-Clean",
	"Service Thread",
	"Monitor Deflat",
	"Notification Th",
	"Attach Lis",
	"Sweeper thr",
	"jemalloc_bg_thd",
	"gmain",
	"gdbus",
	"dconf wor",
	"pool-spawner",
	"grpc_",
	"cuda",
	"iou-",
};

size_t threads_read(struct wait *wait, struct thread_view *threads)
{
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	char path[64];
	size_t nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", wait->pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		struct thread_view *t = &threads[nr];

		if (entry->d_name[0] == '.')
			continue;
		if (nr == MAX_THREADS) {
			wait->unread |= WAIT_NO_THREADS;
			break;
		}
		if (task_read(wait->pid, atoi(entry->d_name), &t->task))
			continue;
		t->kind = detail_kind(&t->task);
		t->futex.kind = WAIT_FUTEX;
		if (t->kind == WAIT_FUTEX && t->task.has_call) {
			t->futex.pid = wait->pid;
			futex_look(wait->pid, &t->task, &t->futex);
		}
		nr++;
	}
	return nr;
}

static struct thread_view *thread_of(struct thread_view *threads, size_t nr, pid_t tid)
{
	for (size_t i = 0; tid && i < nr; i++)
		if (threads[i].task.tid == tid)
			return &threads[i];
	return NULL;
}

/* Whether those that hold the mutexes that it waits for come back to it. */
static bool thread_is_deadlocked(struct thread_view *threads, size_t nr,
				 const struct thread_view *from)
{
	const struct thread_view *at = from;

	for (size_t i = 0; i < nr && at && at->futex.kind == WAIT_MUTEX; i++) {
		at = thread_of(threads, nr, at->futex.tid);
		if (at == from)
			return true;
	}
	return false;
}

static bool thread_is_helper(const struct thread_view *t)
{
	for (size_t i = 0; i < sizeof(helper_names) / sizeof(*helper_names); i++)
		if (!strncmp(t->task.stat.comm, helper_names[i], strlen(helper_names[i])))
			return true;
	return false;
}

/* What the thread waits for, with what is known about its futex. */
static enum wait_kind thread_kind(const struct thread_view *t)
{
	return t->kind == WAIT_FUTEX ? t->futex.kind : t->kind;
}

static unsigned thread_rank(const struct thread_view *t, pid_t pid)
{
	unsigned rank = kind_rank[thread_kind(t)];

	return rank < kind_rank[WAIT_LOCK] && t->task.tid != pid && thread_is_helper(t) ? 1 : rank;
}

/* The most telling one; of several the first. */
static struct thread_view *thread_telling(struct thread_view *threads, size_t nr, pid_t pid)
{
	struct thread_view *best = &threads[0];

	for (size_t i = 1; i < nr; i++)
		if (thread_rank(&threads[i], pid) > thread_rank(best, pid))
			best = &threads[i];
	return best;
}

/* The main thread, or the one whose end it waits for. NULL: it has ended before the others. */
static struct thread_view *thread_main(struct thread_view *threads, size_t nr, pid_t pid)
{
	struct thread_view *t = thread_of(threads, nr, pid);

	for (size_t i = 0; i < nr && t && thread_kind(t) == WAIT_JOIN; i++) {
		struct thread_view *joined = thread_of(threads, nr, t->futex.tid);

		if (!joined)
			return t;
		t = joined;
	}
	return t && t->kind != WAIT_ZOMBIE ? t : NULL;
}

/* Whether it waits for what other threads of the process do. */
static bool thread_waits_for_others(const struct thread_view *t)
{
	return thread_kind(t) == WAIT_FUTEX || thread_kind(t) == WAIT_JOIN;
}

static struct thread_view *thread_find(struct wait *wait, struct thread_view *threads, size_t nr)
{
	struct thread_view *best = thread_telling(threads, nr, wait->pid), *leader;
	unsigned rank = thread_rank(best, wait->pid);

	if (rank >= kind_rank[WAIT_LOCK])
		return best;
	for (size_t i = 0; i < nr; i++)
		if (thread_is_deadlocked(threads, nr, &threads[i])) {
			wait->is_deadlock = true;
			return &threads[i];
		}
	leader = thread_main(threads, nr, wait->pid);
	if (!leader)
		return best;
	if (thread_waits_for_others(leader))
		return rank > kind_rank[WAIT_JOIN] ? best : leader;
	if (kind_rank[thread_kind(leader)] >= kind_rank[WAIT_MUTEX])
		return leader;
	/* a mutex whose holder is known says more than what only waits for events */
	for (size_t i = 0; i < nr; i++)
		if (thread_kind(&threads[i]) == WAIT_MUTEX)
			return &threads[i];
	return leader;
}

struct thread_view *thread_choose(struct wait *wait, struct thread_view *threads, size_t nr)
{
	struct thread_view *chosen = thread_find(wait, threads, nr), *holder;

	for (size_t i = 0; i < nr; i++)
		wait->alike +=
			thread_kind(&threads[i]) == thread_kind(chosen) &&
			(chosen->kind != WAIT_FUTEX || threads[i].futex.tid == chosen->futex.tid);
	holder = thread_of(threads, nr, chosen->futex.tid);
	wait->holder_kind = holder ? holder->kind : WAIT_UNREAD;
	return chosen;
}

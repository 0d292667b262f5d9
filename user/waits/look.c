// SPDX-License-Identifier: BSD-2-Clause
#include "waits/look.h"

#include "waits/calls.h"
#include "waits/memory.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 128                       /* that are looked at */
#define START_TOLERANCE_NS (2 * NSEC_PER_SEC) /* of a clock that was set meanwhile */

/* A thread that is new, and what is found about its futex. */
struct thread_view {
	struct task_view task;
	enum wait_kind kind;
	struct futex_view futex;
};

/* Which thread says most about a process: what is further up may be a consequence of what is below.
 */
static const unsigned char kind_rank[NR_WAIT_KINDS] = {
	[WAIT_RUNS] = 100,      [WAIT_STOPPED] = 95,   [WAIT_TRACED] = 95, [WAIT_FROZEN] = 95,
	[WAIT_DISK] = 90,       [WAIT_SERVER] = 89,    [WAIT_LOCK] = 85,   [WAIT_PIPE_OPEN] = 80,
	[WAIT_PIPE_WRITE] = 78, [WAIT_PIPE_READ] = 76, [WAIT_SEND] = 74,   [WAIT_RECEIVE] = 72,
	[WAIT_CONNECT] = 72,    [WAIT_FILE] = 70,      [WAIT_CHILD] = 68,  [WAIT_TERMINAL] = 66,
	[WAIT_IPC] = 60,        [WAIT_MUTEX] = 55,     [WAIT_URING] = 50,  [WAIT_OTHER] = 48,
	[WAIT_ACCEPT] = 45,     [WAIT_POLL] = 40,      [WAIT_SLEEP] = 35,  [WAIT_UNREAD] = 30,
	[WAIT_SIGNAL] = 25,     [WAIT_JOIN] = 20,      [WAIT_FUTEX] = 15,  [WAIT_IDLE] = 5,
};

void look_done(struct look *look)
{
	net_tables_done(&look->net);
	free(look->locks);
	look->locks = NULL;
}

static uint64_t ticks_to_epoch(uint64_t ticks)
{
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	return boot + ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static bool start_is(uint64_t asked, uint64_t start)
{
	uint64_t apart = asked > start ? asked - start : start - asked;

	return !asked || apart <= START_TOLERANCE_NS;
}

static size_t threads_read(struct wait *wait, struct thread_view *threads)
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

/* A futex alone says little: is there one whose holder is known? */
static struct thread_view *thread_of_mutex(struct wait *wait, struct thread_view *threads,
					   size_t nr)
{
	struct thread_view *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (threads[i].kind != WAIT_FUTEX || !threads[i].task.has_call)
			continue;
		threads[i].futex.pid = wait->pid;
		futex_look(wait->pid, &threads[i].task, &threads[i].futex);
		if (!best || kind_rank[threads[i].futex.kind] > kind_rank[best->futex.kind])
			best = &threads[i];
	}
	for (size_t i = 0; i < nr; i++)
		if (thread_is_deadlocked(threads, nr, &threads[i])) {
			wait->is_deadlock = true;
			return &threads[i];
		}
	return best;
}

static struct thread_view *thread_choose(struct wait *wait, struct thread_view *threads, size_t nr)
{
	struct thread_view *best = &threads[0], *futex, *holder;
	unsigned rank;

	for (size_t i = 1; i < nr; i++)
		if (kind_rank[threads[i].kind] > kind_rank[best->kind])
			best = &threads[i];
	for (size_t i = 0; i < nr; i++)
		wait->alike += threads[i].kind == best->kind;
	if (kind_rank[best->kind] >= kind_rank[WAIT_MUTEX])
		return best;
	futex = thread_of_mutex(wait, threads, nr);
	rank = futex ? kind_rank[futex->futex.kind] : 0;
	if (!futex || (best->kind != WAIT_FUTEX && rank < kind_rank[best->kind]))
		return best;
	wait->alike = 0;
	for (size_t i = 0; i < nr; i++)
		wait->alike += threads[i].kind == WAIT_FUTEX &&
			       threads[i].futex.kind == futex->futex.kind &&
			       threads[i].futex.tid == futex->futex.tid;
	holder = thread_of(threads, nr, futex->futex.tid);
	wait->holder_kind = holder ? holder->kind : WAIT_UNREAD;
	return futex;
}

static void tracer_look(struct wait *wait)
{
	char path[64], text[4096], *at;
	pid_t tracer;

	snprintf(path, sizeof(path), "/proc/%d/status", wait->pid);
	if (proc_read(path, text, sizeof(text)) < 0)
		return;
	at = strstr(text, "\nTracerPid:");
	tracer = at ? atoi(at + 11) : 0;
	if (tracer > 0)
		wait_add_peer(wait, tracer);
}

static void rights_note(struct wait *wait, const struct task_view *task)
{
	if (!strchr("SD", task->stat.state))
		return;
	if (!*task->channel)
		wait->unread |= WAIT_NO_CHANNEL;
	if (!task->has_call)
		wait->unread |= WAIT_NO_CALL;
}

static void wait_of_thread(struct look *look, struct wait *wait, struct other_end *end,
			   const struct thread_view *thread, pid_t parent)
{
	const struct task_view *task = &thread->task;
	const struct call *call = call_of_task(task);

	wait->kind = thread->kind;
	wait->state = task->stat.state;
	wait->tid = task->tid;
	snprintf(wait->call, sizeof(wait->call), "%s", call ? call->name : "");
	snprintf(wait->channel, sizeof(wait->channel), "%s", task->channel);
	rights_note(wait, task);
	if (wait->kind == WAIT_DISK || wait->kind == WAIT_UNREAD || wait->kind == WAIT_FROZEN)
		freezer_look(wait);
	if (wait->kind == WAIT_TRACED)
		tracer_look(wait);
	else if (wait->kind == WAIT_ZOMBIE)
		wait_add_peer(wait, parent);
	else
		detail_look(look, wait, end, task);
}

void look_at(struct look *look, struct wait *wait, struct other_end *end)
{
	struct thread_view *threads;
	uint64_t asked = wait->start_epoch_ns;
	struct task_stat stat;
	size_t nr;
	int err = task_stat_read(wait->pid, 0, &stat);

	wait->fd = -1;
	wait->kind = WAIT_ENDED;
	if (err) {
		if (!kill(wait->pid, 0) || errno == EPERM)
			wait->kind = WAIT_HIDDEN;
		return;
	}
	if (!start_is(asked, ticks_to_epoch(stat.start_ticks)))
		return;
	wait->start_epoch_ns = ticks_to_epoch(stat.start_ticks);
	memcpy(wait->comm, stat.comm, sizeof(wait->comm));
	threads = calloc(MAX_THREADS, sizeof(*threads));
	nr = threads ? threads_read(wait, threads) : 0;
	if (nr) {
		wait->threads = stat.threads;
		wait_of_thread(look, wait, end, thread_choose(wait, threads, nr), stat.parent);
	}
	free(threads);
}

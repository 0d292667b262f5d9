// SPDX-License-Identifier: BSD-2-Clause
#include "waits/look.h"

#include "waits/syscalls.h"
#include "waits/waits_memory.h"
#include "waits/threads.h"
#include "waits/ways.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_TOLERANCE_NS (2 * NSEC_PER_SEC) /* of a clock that was set meanwhile */

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

void look_at_thread(struct look *look, struct wait *wait, struct other_end *end,
		    const struct thread_view *thread)
{
	const struct task_view *task = &thread->task;
	const struct call *call = call_of_task(task);

	wait->kind = thread->kind;
	wait->state = task->stat.state;
	wait->tid = task->tid;
	wait->has_timeout = call_has_timeout(task);
	snprintf(wait->call, sizeof(wait->call), "%s", call ? call->name : "");
	snprintf(wait->channel, sizeof(wait->channel), "%s", task->channel);
	rights_note(wait, task);
	if (wait->kind == WAIT_DISK || wait->kind == WAIT_UNREAD || wait->kind == WAIT_FROZEN)
		freezer_look(wait);
	if (wait->kind == WAIT_TRACED)
		tracer_look(wait);
	else if (wait->kind == WAIT_ZOMBIE)
		wait_add_peer(wait, wait->parent);
	else
		detail_look(look, wait, end, task);
	if (wait->kind == WAIT_FUTEX && task->has_call)
		wait->futex = futex_file(wait->pid, task->argument[0]);
	children_look_signalled(wait, end, task);
	launcher_look(wait, end);
}

static int threads_look(struct look *look, struct wait *wait, struct other_end *end,
			struct way_list *ways)
{
	struct thread_view *threads = calloc(MAX_THREADS, sizeof(*threads));
	size_t nr = threads ? threads_read(wait, threads) : 0;
	int err = threads ? 0 : -ENOMEM;

	if (nr) {
		const struct thread_view *chosen = thread_choose(wait, threads, nr);

		look_at_thread(look, wait, end, chosen);
		if (ways)
			err = ways_look(look, wait, ways, threads, nr, chosen);
	}
	free(threads);
	return err;
}

int look_at(struct look *look, struct wait *wait, struct other_end *end, struct way_list *ways)
{
	uint64_t asked = wait->start_epoch_ns;
	struct task_stat stat;
	int err = task_stat_read(wait->pid, 0, &stat);

	wait->fd = -1;
	wait->kind = WAIT_ENDED;
	if (err) {
		if (!kill(wait->pid, 0) || errno == EPERM)
			wait->kind = WAIT_HIDDEN;
		return 0;
	}
	if (!start_is(asked, ticks_to_epoch(stat.start_ticks)))
		return 0;
	wait->start_epoch_ns = ticks_to_epoch(stat.start_ticks);
	memcpy(wait->comm, stat.comm, sizeof(wait->comm));
	wait->threads = stat.threads;
	wait->parent = stat.parent;
	return threads_look(look, wait, end, ways);
}

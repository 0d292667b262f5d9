// SPDX-License-Identifier: BSD-2-Clause
#include "waits/sleepers.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "waits/look.h"
#include "waits/syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 32 /* examined at once of a process */

/* Kinds that are missing count as W_wait_other. */
static const struct {
	enum wait_kind kind;
	enum waited waited;
} rows[] = {
	{ WAIT_UNREAD, W_wait_unseen },   { WAIT_DISK, W_wait_disk },
	{ WAIT_SERVER, W_wait_disk },     { WAIT_LOCK, W_wait_lock },
	{ WAIT_MUTEX, W_wait_futex },     { WAIT_JOIN, W_wait_futex },
	{ WAIT_FUTEX, W_wait_futex },     { WAIT_PIPE_OPEN, W_wait_pipe },
	{ WAIT_PIPE_READ, W_wait_pipe },  { WAIT_PIPE_WRITE, W_wait_pipe },
	{ WAIT_RECEIVE, W_wait_socket },  { WAIT_SEND, W_wait_socket },
	{ WAIT_CONNECT, W_wait_socket },  { WAIT_ACCEPT, W_wait_socket },
	{ WAIT_TERMINAL, W_wait_socket }, { WAIT_CHILD, W_wait_child },
	{ WAIT_POLL, W_wait_poll },       { WAIT_SLEEP, W_wait_timer },
};

static enum waited waited_of_kind(enum wait_kind kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kind == kind)
			return rows[i].waited;
	return W_wait_other;
}

/* Refines the wait in a read or write of any descriptor. */
static enum waited waited_of_descriptor(pid_t pid, const struct task_view *task)
{
	const enum wait_kind kind = channel_kind(task->channel);
	const struct call *call = call_of_task(task);
	char link[64];

	if (kind != WAIT_OTHER)
		return waited_of_kind(kind);
	/* also for terminals, which therefore count with sockets */
	if (!strcmp(task->channel, "wait_woken"))
		return W_wait_socket;
	if (!call || call->fd_at < 0 ||
	    !descriptor_link(pid, (int)task->argument[call->fd_at], link, sizeof(link)))
		return W_wait_other;
	if (!strncmp(link, "socket:", 7) || link_is_terminal(link))
		return W_wait_socket;
	return strncmp(link, "pipe:", 5) ? W_wait_other : W_wait_pipe;
}

static enum waited waited_of_task(pid_t pid, const struct task_view *task, enum wait_kind kind)
{
	/* a shell in "wait" sleeps until SIGCHLD */
	if (kind == WAIT_SIGNAL && process_handles_children(pid))
		return W_wait_child;
	if (kind == WAIT_FILE || kind == WAIT_OTHER)
		return waited_of_descriptor(pid, task);
	return waited_of_kind(kind);
}

/* @tid is 0 for the process. Returns 1 if the thread could be examined, else 0. */
static int sleeper_count(pid_t pid, pid_t tid, unsigned counts[NR_WAITED])
{
	struct task_view task;
	enum wait_kind kind;

	if (task_read_channel(pid, tid, &task))
		return 0;
	kind = detail_kind(&task);
	if (kind == WAIT_OTHER || kind == WAIT_UNREAD) { /* most channels say enough */
		task_read_call(pid, tid, &task);
		kind = detail_kind(&task);
	}
	if (kind != WAIT_RUNS && kind != WAIT_ZOMBIE && kind != WAIT_IDLE)
		counts[waited_of_task(pid, &task, kind)]++;
	return 1;
}

int sleepers_count(pid_t pid, unsigned threads, unsigned turn, unsigned counts[NR_WAITED])
{
	const unsigned stride = (threads + MOST_THREADS - 1) / MOST_THREADS;
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	char path[64];
	int nr = 0;

	if (threads <= 1)
		return sleeper_count(pid, 0, counts);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = memory_opendir(path);
	if (!folder)
		return -errno;
	for (unsigned i = turn; nr < MOST_THREADS && (entry = readdir(folder));) {
		if (entry->d_name[0] != '.' && i++ % stride == 0)
			nr += sleeper_count(pid, atoi(entry->d_name), counts);
	}
	return nr;
}

// SPDX-License-Identifier: BSD-2-Clause
/* From the system call and the wait channel of a thread to what it waits for. */
#include "waits/syscalls.h"
#include "waits/look.h"
#include "waits/waits_memory.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static const enum wait_kind call_waits[] = {
	[CALL_READ] = WAIT_FILE,       [CALL_WRITE] = WAIT_FILE,  [CALL_ACCEPT] = WAIT_ACCEPT,
	[CALL_CONNECT] = WAIT_CONNECT, [CALL_FLOCK] = WAIT_LOCK,  [CALL_FUTEX] = WAIT_FUTEX,
	[CALL_CHILD] = WAIT_CHILD,     [CALL_POLL] = WAIT_POLL,   [CALL_SELECT] = WAIT_POLL,
	[CALL_EPOLL] = WAIT_POLL,      [CALL_SLEEP] = WAIT_SLEEP, [CALL_SIGNAL] = WAIT_SIGNAL,
	[CALL_URING] = WAIT_URING,     [CALL_IPC] = WAIT_IPC,     [CALL_FILE] = WAIT_FILE,
	[CALL_OPEN] = WAIT_OTHER,      [CALL_FORK] = WAIT_OTHER,  [CALL_OTHER] = WAIT_OTHER,
	[CALL_FCNTL] = WAIT_OTHER,     [CALL_PATH] = WAIT_OTHER,  [CALL_SPLICE] = WAIT_FILE,
};

static bool call_is_vfork(const struct task_view *task, const struct call *call)
{
	return call && call->kind == CALL_FORK && strcmp(call->name, "clone3") != 0 &&
	       (!strcmp(call->name, "vfork") || (task->argument[0] & CLONE_VFORK));
}

/* Of those that sleep: S, D and the state of newer kernels K. */
static enum wait_kind sleeper_kind(const struct task_view *task)
{
	const struct call *call = call_of_task(task);
	enum wait_kind kind = channel_kind(task->channel);

	if (kind == WAIT_FROZEN || kind == WAIT_PIPE_OPEN || kind == WAIT_LOCK ||
	    kind == WAIT_SERVER)
		return kind;
	if (call_is_vfork(task, call) ||
	    (call && call->kind == CALL_FORK && strchr(task->channel, 'v')))
		return WAIT_CHILD;
	if (task->stat.state == 'D')
		return channel_server(task->channel) ? WAIT_SERVER : WAIT_DISK;
	if (call && call->kind == CALL_FCNTL &&
	    (task->argument[1] == F_SETLKW || task->argument[1] == F_OFD_SETLKW))
		return WAIT_LOCK;
	if (call)
		return call_waits[call->kind] != WAIT_OTHER ? call_waits[call->kind] : kind;
	return *task->channel || task->has_call ? kind : WAIT_UNREAD;
}

enum wait_kind detail_kind(const struct task_view *task)
{
	switch (task->stat.state) {
	case 'R':
		return WAIT_RUNS;
	case 'T':
		return WAIT_STOPPED;
	case 't':
		return WAIT_TRACED;
	case 'Z':
	case 'X':
	case 'x':
		return WAIT_ZOMBIE;
	case 'I':
	case 'P':
		return WAIT_IDLE;
	default:
		return sleeper_kind(task);
	}
}

static void path_look(struct wait *wait, const struct task_view *task, const struct call *call)
{
	char path[4096];

	if (call_path(wait->pid, task, path, sizeof(path)))
		path_copy_inert(wait->object, sizeof(wait->object), path);
	if (call->kind == CALL_OPEN) {
		uint64_t flags = task->argument[call->fd_at + 2];

		if (!strcmp(call->name, "openat2") &&
		    !memory_peek(wait->pid, flags, &flags, sizeof(flags)))
			flags = O_RDONLY;
		wait->writes = (flags & O_ACCMODE) != O_RDONLY;
	}
}

const char *other_end_word(const struct wait *wait, const struct other_end *end)
{
	if (wait->is_unix)
		return "a Unix socket";
	return strncmp(end->link, "socket:", 7) ? "a pipe" : "a socket";
}

/* The kind stays that of a poll; the object and the other end are those of the first descriptor
 * that has one. */
static void poll_look(struct look *look, struct wait *wait, struct other_end *end,
		      const struct task_view *task)
{
	int fds[64];
	char first[WAIT_OBJECT] = "";

	wait->watched = poll_descriptors(wait->pid, task, fds, 64);
	wait->fd = -1;
	for (unsigned i = 0; i < 64 && i < wait->watched && fds[i] >= 0; i++) {
		wait->object[0] = '\0';
		wait->is_unix = false;
		descriptor_look(look, wait, end, fds[i], false);
		if (end->is_wanted || wait->peers) {
			wait->fd = fds[i];
			if (!*wait->object)
				snprintf(wait->object, sizeof(wait->object), "%s",
					 other_end_word(wait, end));
			return;
		}
		if (!*first)
			snprintf(first, sizeof(first), "%s", wait->object);
	}
	snprintf(wait->object, sizeof(wait->object), "%s", first);
}

/* Which of its two descriptors a splice(), tee() or sendfile() waits for. */
static bool splice_writes(struct look *look, struct wait *wait, const struct task_view *task,
			  const struct call *call)
{
	struct wait from = { .pid = wait->pid, .state = wait->state };
	enum wait_kind kind = channel_kind(task->channel);
	bool is_sendfile = call->fd_at == 1;
	struct other_end end;
	int to = (int)task->argument[is_sendfile ? 0 : strcmp(call->name, "tee") ? 2 : 1];

	/* sendfile() reads a file; one of the others' ends is a pipe, to which its channel belongs
	 */
	if (wait->kind != WAIT_FILE || kind == WAIT_PIPE_READ ||
	    (!is_sendfile && kind != WAIT_PIPE_WRITE &&
	     descriptor_look(look, &from, &end, wait->fd, false) != WAIT_PIPE_READ))
		return false;
	wait->fd = to;
	return true;
}

static void futex_detail(struct wait *wait, const struct task_view *task)
{
	struct futex_view view = { .pid = wait->pid };

	if (!call_of_task(task))
		return;
	futex_look(wait->pid, task, &view);
	wait->kind = view.kind;
	wait->holder_tid = view.tid;
	if (view.kind != WAIT_FUTEX && view.pid != wait->pid) {
		wait->has_other_end = true;
		wait_add_peer(wait, view.pid);
	}
}

static void descriptor_detail(struct look *look, struct wait *wait, struct other_end *end,
			      const struct task_view *task, const struct call *call)
{
	bool disk = wait->kind == WAIT_DISK || wait->kind == WAIT_SERVER;
	bool writes = call->kind == CALL_WRITE || !strcmp(call->name, "mq_timedsend") ||
		      (call->kind == CALL_SPLICE && splice_writes(look, wait, task, call));
	struct wait seen = *wait;
	enum wait_kind kind = descriptor_look(look, &seen, end, wait->fd, writes);

	if (disk || kind == WAIT_OTHER || call->kind == CALL_FILE || call->kind == CALL_ACCEPT) {
		/* what holds it up is not what others have of the descriptor */
		memcpy(wait->object, seen.object, sizeof(wait->object));
		wait->unread = seen.unread;
		if (!disk && kind == WAIT_OTHER)
			wait->kind = channel_kind(wait->channel);
		memset(end, 0, sizeof(*end));
		return;
	}
	*wait = seen;
	wait->kind = kind;
	wait->writes = writes;
}

void detail_look(struct look *look, struct wait *wait, struct other_end *end,
		 const struct task_view *task)
{
	const struct call *call = call_of_task(task);
	bool has_path = call && (call->kind == CALL_OPEN || call->kind == CALL_PATH);

	if (wait->kind == WAIT_STOPPED)
		stop_look(wait, task);
	if (wait->kind == WAIT_STOPPED || wait->kind == WAIT_FROZEN)
		return;
	if (call && call->fd_at >= 0 && !has_path)
		wait->fd = (int)task->argument[call->fd_at];
	if (has_path)
		path_look(wait, task, call);
	if (wait->kind == WAIT_LOCK)
		lock_look(look, wait, end, task);
	else if (wait->kind == WAIT_CHILD)
		children_look(wait, task);
	else if (wait->kind == WAIT_FUTEX)
		futex_detail(wait, task);
	else if (wait->kind == WAIT_POLL)
		poll_look(look, wait, end, task);
	else if (wait->kind == WAIT_UNREAD)
		lock_look(look, wait, end, NULL);
	else if (call && call->kind == CALL_CONNECT && wait->kind == WAIT_CONNECT)
		connect_look(look, wait, end, task);
	else if (wait->kind == WAIT_URING && wait->fd >= 0)
		uring_look(wait);
	else if (call && wait->fd >= 0)
		descriptor_detail(look, wait, end, task, call);
	if (wait->kind == WAIT_DISK || wait->kind == WAIT_SERVER)
		server_look(wait, end, task);
	if (wait->kind == WAIT_FUTEX || wait->kind == WAIT_URING)
		wait->fd = -1;
}

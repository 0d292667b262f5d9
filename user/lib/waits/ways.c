// SPDX-License-Identifier: BSD-2-Clause
#include "waits/ways.h"

#include "waits/syscalls.h"
#include "waits/waits_memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_WAYS 64 /* of one process; one that has more is taken for one that goes on */

void way_list_done(struct way_list *list)
{
	free(list->at);
	memset(list, 0, sizeof(*list));
}

static void out_note(struct wait *wait, enum way_out out, const struct wait *of)
{
	if (out <= wait->out)
		return;
	wait->out = out;
	wait->out_tid = of->tid;
	wait->out_kind = of->kind;
}

static int way_add(struct wait *wait, struct way_list *list, const struct way *way)
{
	if (list->nr == MAX_WAYS) {
		out_note(wait, WAY_UNKNOWN, &way->wait);
		return 0;
	}
	if (list->nr == list->room) {
		size_t room = list->room ? 4 * list->room : 1;
		struct way *at = reallocarray(list->at, room, sizeof(*at));

		if (!at)
			return -ENOMEM;
		list->at = at;
		list->room = room;
	}
	list->at[list->nr++] = *way;
	return 0;
}

/* Of what is no pipe and no connection: changes of files and devices come from outside, but timers,
 * signals, wake-ups of an event loop and what a child prints on a terminal do not. */
static enum way_out file_out(const struct wait *wait)
{
	bool is_device = !strncmp(wait->object, "/dev/", 5) && !strstr(wait->object, "ptmx");

	return is_device || strstr(wait->object, "notify") ? WAY_OUTSIDE : WAY_ITSELF;
}

/* What ends a wait for something of which the kind is known. WAY_NONE: only other processes. */
static enum way_out kind_out(const struct wait *wait, const struct other_end *end)
{
	switch (wait->kind) {
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
	case WAIT_LOCK:
	case WAIT_CHILD:
	case WAIT_MUTEX:
		return end->is_wanted || wait->peers ? WAY_NONE : WAY_UNKNOWN;
	case WAIT_RECEIVE:
	case WAIT_SEND:
		if (end->is_wanted)
			return WAY_NONE;
		return *wait->object ? WAY_OUTSIDE : WAY_UNKNOWN;
	case WAIT_ACCEPT:
	case WAIT_CONNECT:
	case WAIT_TERMINAL:
	case WAIT_PIPE_OPEN:
		return WAY_OUTSIDE;
	case WAIT_FILE:
		return wait->is_process && wait->peers ? WAY_NONE : file_out(wait);
	case WAIT_OTHER:
	case WAIT_UNREAD:
	case WAIT_HIDDEN:
		return WAY_UNKNOWN;
	default:
		return WAY_ITSELF;
	}
}

/* Whether a poll waits to write: the end of a pipe is open for one of both. */
static bool descriptor_is_written(pid_t pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	return !lstat(path, &st) && !(st.st_mode & S_IRUSR);
}

static int poll_ways(struct look *look, struct wait *wait, struct way_list *list,
		     const struct thread_view *t, bool is_chosen)
{
	/* a poll by which a shell or bpfmon waits for a child is named as that */
	bool is_named = is_chosen && wait->kind == WAIT_POLL;
	int fds[MAX_WAYS], err = 0;
	unsigned nr = poll_descriptors(wait->pid, &t->task, fds, MAX_WAYS);
	struct way way = { .wait = { .pid = wait->pid, .tid = t->task.tid, .kind = WAIT_POLL } };

	if (!nr || nr > MAX_WAYS || fds[0] < 0)
		out_note(wait, WAY_UNKNOWN, &way.wait);
	if (is_named && nr > MAX_WAYS) /* a server: no one of its clients holds it up */
		wait->is_fed = true;
	for (unsigned i = 0; i < nr && i < MAX_WAYS && fds[i] >= 0 && !err; i++) {
		enum way_out out;

		memset(&way, 0, sizeof(way));
		way.is_poll = true;
		way.wait.pid = wait->pid;
		way.wait.tid = t->task.tid;
		way.wait.fd = fds[i];
		way.wait.state = t->task.stat.state;
		way.wait.kind = descriptor_look(look, &way.wait, &way.end, fds[i],
						descriptor_is_written(wait->pid, fds[i]));
		out = kind_out(&way.wait, &way.end);
		if (is_named && way.wait.is_remote)
			wait->is_remote = true;
		else if (is_named && out == WAY_OUTSIDE)
			wait->is_fed = true;
		way.wait.kind = WAIT_POLL;
		if (out)
			out_note(wait, out, &way.wait);
		else
			err = way_add(wait, list, &way);
	}
	return err;
}

static bool futex_is_shared(const struct task_view *task)
{
	return !task->has_call || !(task->argument[1] & FUTEX_PRIVATE_FLAG);
}

static int thread_ways(struct look *look, struct wait *wait, struct way_list *list,
		       const struct thread_view *t, bool is_chosen)
{
	struct way way = {
		.wait = { .pid = wait->pid, .tid = t->task.tid, .kind = t->kind, .fd = -1 }
	};
	enum way_out out;

	if (t->kind == WAIT_ZOMBIE)
		return 0;
	if (call_has_timeout(&t->task))
		out_note(wait, WAY_ITSELF, &way.wait);
	if (t->kind == WAIT_POLL)
		return poll_ways(look, wait, list, t, is_chosen);
	if (t->kind == WAIT_FUTEX && t->futex.kind != WAIT_FUTEX && t->futex.pid == wait->pid)
		return 0;
	if (t->kind == WAIT_FUTEX && t->futex.kind == WAIT_FUTEX) {
		if (futex_is_shared(&t->task))
			out_note(wait, t->task.has_call ? WAY_ITSELF : WAY_UNKNOWN, &way.wait);
		return 0;
	}
	if (t->kind == WAIT_SIGNAL) {
		out_note(wait, WAY_ITSELF, &way.wait);
		return 0;
	}
	look_at_thread(look, &way.wait, &way.end, t);
	out = kind_out(&way.wait, &way.end);
	if (!out)
		return way_add(wait, list, &way);
	out_note(wait, out, &way.wait);
	return 0;
}

int ways_look(struct look *look, struct wait *wait, struct way_list *list,
	      const struct thread_view *threads, size_t nr, const struct thread_view *chosen)
{
	int err = 0;

	if (wait->unread & WAIT_NO_THREADS)
		out_note(wait, WAY_UNKNOWN, wait);
	for (size_t i = 0; i < nr && !err; i++)
		err = thread_ways(look, wait, list, &threads[i], &threads[i] == chosen);
	return err;
}

static void way_join(struct wait *wait, pid_t pid)
{
	for (unsigned i = 0; i < wait->ways; i++)
		if (wait->way[i] == pid)
			return;
	if (wait->ways < WAIT_FOLLOWED)
		wait->way[wait->ways++] = pid;
	else
		out_note(wait, WAY_UNKNOWN, wait);
}

static bool only_itself_has(const struct wait *wait)
{
	return wait->follows == 1 && wait->follow[0] == wait->pid;
}

/* A poll is for all of its descriptors; one that another process has is named before a pipe of its
 * own. */
static void poll_finish(struct wait *wait, const struct way *way)
{
	if (way->wait.follows && only_itself_has(wait) && !only_itself_has(&way->wait)) {
		wait->fd = way->wait.fd;
		wait->is_socket = !strncmp(way->end.link, "socket:", 7);
		snprintf(wait->object, sizeof(wait->object), "%s",
			 *way->wait.object ? way->wait.object
					   : other_end_word(&way->wait, &way->end));
		wait_take_peers(wait, &way->wait);
	}
	for (unsigned i = 0; i < way->wait.follows; i++)
		wait_follow(wait, way->wait.follow[i]);
}

void ways_finish(struct wait *wait, const struct way_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct way *way = &list->at[i];
		const struct wait *of = &way->wait;

		if (way->is_poll && of->tid == wait->tid && wait->kind == WAIT_POLL)
			poll_finish(wait, way);
		/* any process may open a FIFO by its name */
		if (only_itself_has(of) && way->end.link[0] == '/' && !*way->end.request.kind)
			out_note(wait, WAY_OUTSIDE, of);
		else if (!of->peers || of->peers > WAIT_FOLLOWED || of->unread & WAIT_NO_OTHERS)
			out_note(wait, WAY_UNKNOWN, of);
		for (unsigned p = 0; p < of->follows; p++)
			if (!way->is_poll || of->follow[p] != wait->pid)
				way_join(wait, of->follow[p]);
	}
	if (wait->out)
		wait->ways = 0;
}

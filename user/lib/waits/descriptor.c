// SPDX-License-Identifier: BSD-2-Clause
/* What a descriptor of another process is, and which ends of it others have. */
#include "waits/fdinfo.h"
#include "waits/look.h"
#include "waits/waits_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static enum wait_kind pipe_look(struct wait *wait, struct other_end *end, const char *link,
				bool writes)
{
	wait->has_other_end = true;
	end->is_wanted = true;
	end->use = writes ? END_READS : END_WRITES;
	snprintf(end->link, sizeof(end->link), "%s", link);
	return writes ? WAIT_PIPE_WRITE : WAIT_PIPE_READ;
}

static void socket_end(struct wait *wait, struct other_end *end, uint64_t inode)
{
	wait->has_other_end = true;
	end->is_wanted = true;
	end->use = END_ANY;
	snprintf(end->link, sizeof(end->link), "socket:[%" PRIu64 "]", inode);
}

static enum wait_kind socket_look(struct look *look, struct wait *wait, struct other_end *end,
				  const char *link, bool writes)
{
	struct socket_view view;
	uint64_t inode = link_socket(link);

	if (inode && socket_find(&look->net, wait->pid, inode, &view)) {
		wait->object_is_own = !*view.remote;
		wait->is_unix = view.is_unix;
		text_copy_inert(wait->object, sizeof(wait->object),
				*view.remote ? view.remote : view.local);
		wait->is_remote = *view.remote && !view.peer;
		if (view.peer)
			socket_end(wait, end, view.peer);
	}
	return writes ? WAIT_SEND : WAIT_RECEIVE;
}

void connect_look(struct look *look, struct wait *wait, struct other_end *end,
		  const struct task_view *task)
{
	struct sockaddr_storage address = { 0 };
	char link[sizeof(end->link)];
	uint64_t length = task->argument[2];
	struct socket_view view = { .peer = 0 };

	if (!descriptor_link(wait->pid, wait->fd, link, sizeof(link))) {
		wait->unread |= WAIT_NO_FILES;
		return;
	}
	if (socket_find(&look->net, wait->pid, link_socket(link), &view) && !view.is_unix)
		text_copy_inert(wait->object, sizeof(wait->object), view.remote);
	else if (length <= sizeof(address) &&
		 memory_peek(wait->pid, task->argument[1], &address, length) &&
		 address.ss_family == AF_UNIX) {
		view.listener = unix_find_listener(wait->pid, &address, length, wait->object,
						   sizeof(wait->object));
		view.queued = 1; /* else it would not wait */
	}
	if (!view.listener)
		return;
	wait->queue_is_full = view.queued > 0;
	socket_end(wait, end, view.listener);
}

/* The time until it expires, which fdinfo has, as it does a period. */
static enum wait_kind timer_look(struct wait *wait, const char *info)
{
	const char *at = strstr(info, "it_value: (");
	uint64_t seconds = 0, ns = 0;

	if (at)
		sscanf(at, "it_value: (%" SCNu64 ", %" SCNu64 ")", &seconds, &ns);
	if (!at)
		snprintf(wait->object, sizeof(wait->object), "a timer (timerfd)");
	else if (!seconds && !ns)
		snprintf(wait->object, sizeof(wait->object), "a timer (timerfd) that is not set");
	else
		snprintf(wait->object, sizeof(wait->object),
			 "a timer (timerfd), due in %" PRIu64 ".%" PRIu64 " s", seconds,
			 ns / 100000000);
	return WAIT_SLEEP;
}

static enum wait_kind eventfd_look(struct wait *wait, struct other_end *end, const char *link,
				   const char *info)
{
	snprintf(wait->object, sizeof(wait->object), "an eventfd");
	/* of several descriptors one that is a pipe or a socket says more */
	if (wait->watched > 1 || !fdinfo_number(info, "eventfd-id", &end->value))
		return WAIT_FILE;
	wait->has_other_end = true;
	end->is_wanted = true;
	end->may_be_own = true;
	end->key = "eventfd-id";
	snprintf(end->link, sizeof(end->link), "%s", link);
	return WAIT_FILE;
}

static enum wait_kind pidfd_look(struct wait *wait, const char *info)
{
	uint64_t pid;

	snprintf(wait->object, sizeof(wait->object), "the end of a process (pidfd)");
	if (fdinfo_number(info, "Pid", &pid) && pid) {
		wait->has_other_end = true;
		wait->is_process = true;
		wait_add_peer(wait, (pid_t)pid);
	}
	return WAIT_FILE;
}

/* What has no name in a file system. */
static enum wait_kind nameless_look(struct wait *wait, struct other_end *end, int fd,
				    const char *link)
{
	static const struct {
		const char *link, *what;
		enum wait_kind kind;
	} words[] = {
		{ "[signalfd]", "a signal (signalfd)", WAIT_SIGNAL },
		{ "inotify", "a change of files (inotify)", WAIT_FILE },
		{ "[fanotify]", "an access to files (fanotify)", WAIT_FILE },
		{ "[eventpoll]", "an epoll", WAIT_FILE },
		{ "[io_uring]", "an io_uring", WAIT_FILE },
	};
	const char *name = strchr(link, ':') + 1;
	char info[2048];

	fdinfo_read(wait->pid, fd, info, sizeof(info));
	wait->is_nameless = true;
	if (!strcmp(name, "[timerfd]"))
		return timer_look(wait, info);
	if (!strcmp(name, "[eventfd]"))
		return eventfd_look(wait, end, link, info);
	if (!strcmp(name, "[pidfd]") || !strncmp(link, "pidfd:", 6))
		return pidfd_look(wait, info);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i].link)) {
			snprintf(wait->object, sizeof(wait->object), "%s", words[i].what);
			return words[i].kind;
		}
	path_copy_inert(wait->object, sizeof(wait->object), link);
	return WAIT_FILE;
}

/* Of POSIX: its link is the name, its inode that of the file system of queues. */
static enum wait_kind queue_look(struct wait *wait, struct other_end *end, int fd, const char *link,
				 bool writes)
{
	char info[1024];

	path_copy_inert(wait->object, sizeof(wait->object), link);
	wait->writes = writes;
	if (fdinfo_read(wait->pid, fd, info, sizeof(info)) < 0 ||
	    !fdinfo_number(info, "ino", &end->value))
		return WAIT_IPC;
	wait->has_other_end = true;
	end->is_wanted = true;
	end->use = writes ? END_READS : END_WRITES;
	end->may_be_own = true; /* any process may open it by its name */
	end->key = "ino";
	snprintf(end->link, sizeof(end->link), "%s", link);
	return WAIT_IPC;
}

enum wait_kind descriptor_look(struct look *look, struct wait *wait, struct other_end *end, int fd,
			       bool writes)
{
	char path[64], link[sizeof(end->link)];
	struct statx st;

	if (!descriptor_link(wait->pid, fd, link, sizeof(link))) {
		wait->unread |= WAIT_NO_FILES;
		return WAIT_OTHER;
	}
	if (!strncmp(link, "pipe:[", 6))
		return pipe_look(wait, end, link, writes);
	if (!strncmp(link, "socket:[", 8))
		return socket_look(look, wait, end, link, writes);
	if (!strncmp(link, "anon_inode:", 11) || !strncmp(link, "pidfd:", 6))
		return nameless_look(wait, end, fd, link);
	if (wait->kind == WAIT_IPC)
		return queue_look(wait, end, fd, link, writes);
	path_copy_inert(wait->object, sizeof(wait->object), link);
	if (link_is_terminal(link))
		return WAIT_TERMINAL;
	/* a file server that hangs is not asked: what is known of the file will do */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", wait->pid, fd);
	if (link[0] == '/' && wait->state == 'S' &&
	    !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) && S_ISFIFO(st.stx_mode))
		return pipe_look(wait, end, link, writes);
	return WAIT_FILE;
}

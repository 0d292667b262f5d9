// SPDX-License-Identifier: BSD-2-Clause
/* Finds what a thread waits for, by its system call and wait channel. */
#include "base/buffer.h"
#include "base/memory.h"
#include "waits/task.h"
#include "waits/look.h"
#include "waits/syscalls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Descriptors: their types, and the other end to be searched. */

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

/* Sets the address that a connect() waits for, and the local process that listens there. */
static void connect_look(struct look *look, struct wait *wait, struct other_end *end,
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
		view.queued = 1; /* else it would not block */
	}
	if (!view.listener)
		return;
	wait->queue_is_full = view.queued > 0;
	socket_end(wait, end, view.listener);
}

/* Sets the object to the remaining time of the timer, from fdinfo. */
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
	/* among several descriptors a pipe or a socket says more */
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

/* Examines a descriptor without a name in a file system. */
static enum wait_kind nameless_look(struct wait *wait, struct other_end *end, int fd,
				    const char *link)
{
	static const struct {
		const char *link, *what;
		enum wait_kind kind;
	} words[] = {
		{ "[signalfd]", "a signal (signalfd)", WAIT_SIGNAL },
		{ "inotify", "a change to files (inotify)", WAIT_FILE },
		{ "[fanotify]", "access to files (fanotify)", WAIT_FILE },
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

/* Examines a POSIX queue: its link is the name, its inode is of the mqueue file system. */
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
	end->may_be_own = true; /* any process may open it by name */
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
	/* AT_STATX_DONT_SYNC: cached attributes suffice, as a file server may hang */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", wait->pid, fd);
	if (link[0] == '/' && wait->state == 'S' &&
	    !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) && S_ISFIFO(st.stx_mode))
		return pipe_look(wait, end, link, writes);
	return WAIT_FILE;
}

/*
 * Requests of a task in io_uring_enter(): fdinfo of a ring lists the operations that wait until a
 * file is ready, but not the files, and nothing of what the threads of the ring do.
 */

static const char *const operations[] = {
	[IORING_OP_READV] = "READV",
	[IORING_OP_WRITEV] = "WRITEV",
	[IORING_OP_READ_FIXED] = "READ_FIXED",
	[IORING_OP_READ] = "READ",
	[IORING_OP_WRITE] = "WRITE",
	[IORING_OP_WRITE_FIXED] = "WRITE_FIXED",
	[IORING_OP_SEND] = "SEND",
	[IORING_OP_SENDMSG] = "SENDMSG",
	[IORING_OP_POLL_ADD] = "POLL_ADD",
	[IORING_OP_RECV] = "RECV",
	[IORING_OP_RECVMSG] = "RECVMSG",
	[IORING_OP_ACCEPT] = "ACCEPT",
	[IORING_OP_SPLICE] = "SPLICE",
	[IORING_OP_CONNECT] = "CONNECT",
	[IORING_OP_TEE] = "TEE",
};

#define NR_OPERATIONS (sizeof(operations) / sizeof(*operations))

/* Sets the object to the pending requests of the io_uring at the descriptor. */
static void uring_look(struct wait *wait)
{
	unsigned counts[NR_OPERATIONS] = { 0 };
	char info[16384];
	const char *at;
	size_t used = 0;

	if (fdinfo_read(wait->pid, wait->fd, info, sizeof(info)) < 0)
		return;
	at = strstr(info, "PollList:");
	while (at && (at = strstr(at, "\n  op="))) {
		unsigned long op = strtoul(at + 6, NULL, 10);

		at += 6;
		if (op < NR_OPERATIONS)
			counts[op]++;
	}
	for (size_t i = 0; i < NR_OPERATIONS && used < sizeof(wait->object); i++) {
		if (!counts[i] || !operations[i])
			continue;
		used += (size_t)snprintf(wait->object + used, sizeof(wait->object) - used, "%s%s",
					 used ? ", " : "", operations[i]);
		if (counts[i] > 1 && used < sizeof(wait->object))
			used += (size_t)snprintf(wait->object + used, sizeof(wait->object) - used,
						 " (%u)", counts[i]);
	}
}

/* The lock or lease of a file that a task waits for, and its holders. */

static void locks_read(struct look *look)
{
	struct buffer all = { 0 };
	char part[8192];
	FILE *f = memory_fopen("/proc/locks", "re");
	size_t n;

	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		buffer_put(&all, part, n);
	if (f)
		fclose(f);
	buffer_put(&all, "", 1);
	look->locks = all.text;
}

/* Sets the bytes that fcntl() requests; unchanged if they cannot be read. */
static void request_of_bytes(struct file_lock *asked, pid_t pid, uint64_t address, uint64_t at)
{
	struct flock f;
	int64_t first;

	if (!memory_peek(pid, address, &f, sizeof(f)) || f.l_whence == SEEK_END)
		return;
	first = f.l_start + (f.l_whence == SEEK_CUR ? (int64_t)at : 0);
	if (f.l_len < 0)
		first += f.l_len;
	asked->first = (uint64_t)first;
	asked->last =
		f.l_len ? (uint64_t)(first + (f.l_len < 0 ? -f.l_len : f.l_len) - 1) : UINT64_MAX;
}

/* Sets @asked to the lock that the call requests. @info is the fdinfo of the descriptor. */
static void request_of_call(struct file_lock *asked, const struct wait *wait,
			    const struct task_view *task, const char *info)
{
	const struct call *call = task ? call_of_task(task) : NULL;
	uint64_t at = 0;

	*asked = (struct file_lock){ .pid = wait->pid, .first = 1 };
	if (!call)
		return;
	fdinfo_number(info, "ino", &asked->inode);
	if (call->kind == CALL_FLOCK)
		snprintf(asked->kind, sizeof(asked->kind), "FLOCK");
	if (call->kind != CALL_FCNTL)
		return;
	snprintf(asked->kind, sizeof(asked->kind),
		 task->argument[1] == F_OFD_SETLKW ? "OFDLCK" : "POSIX");
	if (task->argument[1] == F_OFD_SETLKW)
		asked->pid = -1;
	fdinfo_number(info, "pos", &at);
	request_of_bytes(asked, wait->pid, task->argument[2], at);
}

/*
 * Finds the holders. POSIX locks and leases belong to a process, which the kernel names. Other
 * locks belong to an open file: the process that took one may have exited, and others may share the
 * descriptor.
 */
static void holders_look(const char *locks, struct wait *wait, struct other_end *end,
			 const char *file)
{
	struct file_lock held;

	while ((locks = locks_next_holder(locks, &end->request, &held))) {
		bool is_of_file = !strcmp(held.kind, "FLOCK") || !strcmp(held.kind, "OFDLCK");

		if (is_of_file && *file)
			end->is_wanted = true;
		else if (held.pid > 0)
			wait_add_peer(wait, held.pid);
		if (is_of_file && held.pid > 0 && !end->first)
			end->first = held.pid;
	}
	snprintf(end->link, sizeof(end->link), "%s", file);
}

/*
 * Sets the lock or lease that the process waits for, and its holders. @task is the thread in its
 * call; NULL if the call is unreadable: /proc/locks shows to any user whether a process waits for a
 * lock.
 */
static void lock_look(struct look *look, struct wait *wait, struct other_end *end,
		      const struct task_view *task)
{
	char file[sizeof(end->link)], info[8192];
	struct file_lock *asked = &end->request, held;

	if (!look->locks)
		locks_read(look);
	fdinfo_read(wait->pid, wait->fd, info, sizeof(info));
	if (descriptor_link(wait->pid, wait->fd, file, sizeof(file)))
		path_copy_inert(wait->object, sizeof(wait->object), file);
	request_of_call(asked, wait, task, info);
	if (!look->locks || (asked->pid < 0 && !asked->inode) ||
	    !locks_find(look->locks, asked, &held))
		return;
	wait->kind = WAIT_LOCK;
	wait->has_other_end = true;
	snprintf(wait->lock, sizeof(wait->lock), "%s", asked->kind);
	wait->lock_first = asked->first;
	wait->lock_last = asked->last;
	if (fdinfo_has_conflict(info, asked)) { /* it upgrades its own lock */
		end->own_pid = wait->pid;
		end->own_fd = wait->fd;
	}
	holders_look(look->locks, wait, end, file);
	if (!*wait->object)
		snprintf(wait->object, sizeof(wait->object), "inode %" PRIu64 " of device %u:%u",
			 asked->inode, asked->major, asked->minor);
}

/* Determines the kind of wait from call and channel, then its details. */

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

/* Returns the kind of wait of a task in state S, D, or K of newer kernels. */
static enum wait_kind sleeper_kind(const struct task_view *task)
{
	const struct call *call = call_of_task(task);
	enum wait_kind kind = channel_kind(task->channel);

	if (kind == WAIT_FROZEN || kind == WAIT_PIPE_OPEN || kind == WAIT_LOCK ||
	    kind == WAIT_SERVER)
		return kind;
	if (call_is_vfork(task, call) ||
	    (call && call->kind == CALL_FORK && strchr(task->channel, 'v')) ||
	    (!call && kind == WAIT_CHILD))
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

/* Examines a poll. Object and other end are those of the first descriptor with an other end. */
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

/* Returns whether splice(), tee() or sendfile() is blocked on its output. */
static bool splice_writes(struct look *look, struct wait *wait, const struct task_view *task,
			  const struct call *call)
{
	struct wait from = { .pid = wait->pid, .state = wait->state };
	enum wait_kind kind = channel_kind(task->channel);
	bool is_sendfile = call->fd_at == 1;
	struct other_end end;
	int to = (int)task->argument[is_sendfile ? 0 : strcmp(call->name, "tee") ? 2 : 1];

	/* sendfile() reads a file; for the others the channel belongs to an end that is a pipe */
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
		/* what blocks the call is not the other end of its descriptor */
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

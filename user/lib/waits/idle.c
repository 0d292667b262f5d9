// SPDX-License-Identifier: BSD-2-Clause
#include "waits/idle.h"

#include "base/cleanup.h"
#include "waits/syscalls.h"
#include "waits/fdinfo.h"
#include "waits/look.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 1024 /* of a process that are looked at */
#define MAX_LISTENERS 1024
#define MAX_ROWS 65536 /* of a table of sockets; in those of TCP listeners come first */

struct member {
	pid_t pid, parent;
	enum wait_kind kind; /* of its first thread */
	bool listens;        /* it has a socket for requests */
	bool is_server;      /* and waits for them; or for a user at a terminal */
	bool is_idle;
};

/* The sockets of a network namespace that get connections, or datagrams from anyone. */
struct listeners {
	char space[64]; /* as its link says; "": none was read */
	uint64_t inodes[MAX_LISTENERS];
	size_t nr;
};

/* A thread that waits so is held up by another one, or by a device. */
static bool kind_is_blocked(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_STOPPED:
	case WAIT_TRACED:
	case WAIT_FROZEN:
	case WAIT_DISK:
	case WAIT_SERVER:
	case WAIT_LOCK:
	case WAIT_PIPE_OPEN:
	case WAIT_PIPE_WRITE:
	case WAIT_SEND:
	case WAIT_CONNECT:
	case WAIT_HIDDEN:
	case WAIT_UNREAD:
		return true;
	default:
		return false;
	}
}

static bool threads_are_blocked(pid_t pid)
{
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	struct task_view task;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && !task_read(pid, atoi(entry->d_name), &task) &&
		    kind_is_blocked(detail_kind(&task)))
			return true;
	return !folder;
}

/* The inode of a socket that gets connections, or datagrams from anyone; 0: it is another one. */
static uint64_t inet_row_listens(const char *line)
{
	unsigned remote_port, state;
	uint64_t inode;

	if (sscanf(line, " %*u: %*[^ ] %*[0-9A-F]:%x %x %*s %*s %*s %*u %*u %" SCNu64, &remote_port,
		   &state, &inode) != 3)
		return 0;
	return state == 0x0a || (state == 0x07 && !remote_port) ? inode : 0;
}

static uint64_t unix_row_listens(const char *line)
{
	unsigned flags, type, state;
	uint64_t inode;
	char path[4];
	int got = sscanf(line, "%*[^:]: %*x %*x %x %x %x %" SCNu64 " %3s", &flags, &type, &state,
			 &inode, path);

	if (got < 4)
		return 0;
	/* SO_ACCEPTCON; or a datagram socket with a name, and not connected */
	return flags & 0x10000 || (got == 5 && type == 2 && state == 1) ? inode : 0;
}

static void listeners_add(struct listeners *l, uint64_t inode)
{
	if (inode && l->nr < MAX_LISTENERS)
		l->inodes[l->nr++] = inode;
}

/* Those of the network namespace of the process, unless they are there already. */
static void listeners_read(struct listeners *l, pid_t pid)
{
	static const char *const tables[] = { "tcp", "tcp6", "udp", "udp6", "unix" };
	char path[64], line[512], space[sizeof(l->space)] = "";

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (readlink(path, space, sizeof(space) - 1) <= 0 || !strcmp(space, l->space))
		return;
	memcpy(l->space, space, sizeof(space));
	l->nr = 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		__cleanup(fclosep) FILE *f = NULL;

		snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, tables[i]);
		f = fopen(path, "re");
		for (size_t row = 0; f && row < MAX_ROWS && fgets(line, sizeof(line), f); row++)
			listeners_add(l, i < 4 ? inet_row_listens(line) : unix_row_listens(line));
	}
}

static bool inode_listens(const struct listeners *l, uint64_t inode)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->inodes[i] == inode)
			return true;
	return false;
}

static bool process_listens(struct listeners *l, pid_t pid)
{
	__cleanup(closedirp) DIR *folder = NULL;
	char path[64], link[64];
	struct dirent *entry;
	uint64_t inode;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	for (size_t i = 0; folder && i < MAX_DESCRIPTORS && (entry = readdir(folder)); i++) {
		n = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		inode = link_socket(link);
		if (!inode)
			continue;
		listeners_read(l, pid);
		if (inode_listens(l, inode))
			return true;
	}
	return false;
}

/* What the thread reads from, as its link says; "": it does not read, or it is not known. */
static void source_of(pid_t pid, const struct task_view *task, char *link, size_t size)
{
	const struct call *call = call_of_task(task);

	*link = '\0';
	if (call && call->kind == CALL_READ && call->fd_at >= 0)
		descriptor_link(pid, (int)task->argument[call->fd_at], link, size);
}

static bool waits_for_requests(const struct listeners *l, const struct member *m,
			       const char *source)
{
	const uint64_t inode = link_socket(source);

	if (m->kind == WAIT_ACCEPT || m->kind == WAIT_POLL)
		return m->listens;
	return m->listens && inode && inode_listens(l, inode);
}

static bool waits_for_user(const struct task_view *task, const char *source)
{
	return !strcmp(task->channel, "n_tty_read") || link_is_terminal(source);
}

static bool member_read(struct listeners *l, struct member *m, pid_t pid)
{
	struct task_view task;
	char source[64];

	if (task_read(pid, pid, &task) || threads_are_blocked(pid))
		return false;
	m->pid = pid;
	m->parent = task.stat.parent;
	m->kind = detail_kind(&task);
	source_of(pid, &task, source, sizeof(source));
	m->listens = process_listens(l, pid);
	m->is_server = waits_for_requests(l, m, source);
	m->is_idle = m->is_server || waits_for_user(&task, source);
	return true;
}

static struct member *member_of_pid(struct member *all, size_t nr, pid_t pid)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i].pid == pid)
			return &all[i];
	return NULL;
}

/* The first process of a server that others serve for; one with work of its own does not wait so.
 */
static bool member_is_master(const struct member *m)
{
	return m->listens && (m->kind == WAIT_SIGNAL || m->kind == WAIT_SLEEP ||
			      m->kind == WAIT_CHILD || m->kind == WAIT_POLL);
}

/* What a server has started, and its master, are parts of it. */
static bool members_join_servers(struct member *all, size_t nr)
{
	bool has_changed = false;

	for (size_t i = 0; i < nr; i++) {
		struct member *parent = member_of_pid(all, nr, all[i].parent);

		if (!parent || parent->is_server == all[i].is_server ||
		    (all[i].is_server && !member_is_master(parent)))
			continue;
		all[i].is_server = parent->is_server = has_changed = true;
		all[i].is_idle = parent->is_idle = true;
	}
	return has_changed;
}

/* A shell or a supervisor whose children are all idle. */
static bool member_waits_for_idle(const struct member *all, size_t nr, const struct member *m)
{
	size_t children = 0;

	if (m->kind != WAIT_CHILD && m->kind != WAIT_SIGNAL && m->kind != WAIT_POLL)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (all[i].parent != m->pid)
			continue;
		if (!all[i].is_idle)
			return false;
		children++;
	}
	return children > 0;
}

static bool members_are_idle(struct member *all, size_t nr)
{
	bool has_changed = true;

	while (members_join_servers(all, nr))
		;
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < nr; i++) {
			if (all[i].is_idle || !member_waits_for_idle(all, nr, &all[i]))
				continue;
			all[i].is_idle = has_changed = true;
		}
	}
	for (size_t i = 0; i < nr; i++)
		if (!all[i].is_idle)
			return false;
	return true;
}

bool processes_are_idle(const int32_t *pids, size_t nr)
{
	struct member *all = calloc(nr + 1, sizeof(*all));
	struct listeners *l = calloc(1, sizeof(*l));
	bool is_idle = all && l && nr;

	for (size_t i = 0; is_idle && i < nr; i++)
		is_idle = member_read(l, &all[i], pids[i]);
	is_idle = is_idle && members_are_idle(all, nr);
	free(l);
	free(all);
	return is_idle;
}

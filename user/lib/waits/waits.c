// SPDX-License-Identifier: BSD-2-Clause
/* A set of processes whose waits are read together; and whether processes are idle. */
#include "waits/waits.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "waits/look.h"
#include "waits/syscalls.h"
#include "waits/task.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FOLLOWED 64 /* processes that were not given */

struct waits_entry {
	struct wait wait;
	struct other_end end;
	struct way_list ways; /* until they have been searched */
	uint64_t start_epoch_ns;
};

struct waits {
	struct waits_entry *all;
	size_t nr, room;
	size_t given; /* added by the caller; the rest was followed */
	struct scan_memory memory;
};

struct waits *waits_new(void)
{
	return memory_calloc(1, sizeof(struct waits));
}

void waits_free(struct waits *w)
{
	if (w) {
		free(w->all);
		scan_memory_done(&w->memory);
	}
	free(w);
}

void waits_clear(struct waits *w)
{
	w->nr = 0;
	w->given = 0;
}

static int waits_put(struct waits *w, pid_t pid, uint64_t start_epoch_ns)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->all[i].wait.pid == pid)
			return (int)i;
	if (w->nr == w->room) {
		size_t room = w->room ? 2 * w->room : 16;
		struct waits_entry *all = memory_reallocarray(w->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		w->all = all;
		w->room = room;
	}
	memset(&w->all[w->nr], 0, sizeof(*w->all));
	w->all[w->nr].wait.pid = pid;
	w->all[w->nr].start_epoch_ns = start_epoch_ns;
	return (int)w->nr++;
}

int waits_add(struct waits *w, pid_t pid, uint64_t start_epoch_ns)
{
	int at;

	w->nr = w->given;
	at = waits_put(w, pid, start_epoch_ns);
	w->given = w->nr;
	return at;
}

static int waits_entry_read(struct waits_entry *a, struct look *look, bool with_ways)
{
	pid_t pid = a->wait.pid;

	memset(&a->wait, 0, sizeof(a->wait));
	memset(&a->end, 0, sizeof(a->end));
	a->wait.pid = pid;
	a->wait.start_epoch_ns = a->start_epoch_ns;
	return look_at(look, &a->wait, &a->end, with_ways ? &a->ways : NULL);
}

/* Searches the other ends of the processes from @from on, which have @ways ways. */
static int waits_scan(struct waits *w, size_t from, size_t ways, bool all)
{
	struct scan_item *items = memory_calloc(w->nr - from + ways + 1, sizeof(*items));
	pid_t *pids = memory_calloc(w->nr + 1, sizeof(*pids));
	int err = items && pids ? 0 : -ENOMEM;
	size_t nr = 0;

	for (size_t i = 0; !err && i < w->nr; i++)
		pids[i] = w->all[i].wait.pid;
	for (size_t i = from; !err && i < w->nr; i++) {
		struct waits_entry *a = &w->all[i];

		if (a->end.is_wanted)
			items[nr++] = (struct scan_item){ &a->wait, &a->end };
		for (size_t k = 0; k < a->ways.nr; k++)
			if (a->ways.at[k].end.is_wanted)
				items[nr++] = (struct scan_item){ &a->ways.at[k].wait,
								  &a->ways.at[k].end };
	}
	if (!err)
		err = scan_ends(items, nr, all ? NULL : pids, w->nr, &w->memory);
	free(items);
	free(pids);
	return err;
}

/*
 * Reads the processes from @from on; if @all, also the waits of all their threads, searched in all
 * processes.
 */
static int waits_look(struct waits *w, struct look *look, size_t from, bool all)
{
	size_t ways = 0;
	int err = 0;

	for (size_t i = from; i < w->nr && !err; i++) {
		err = waits_entry_read(&w->all[i], look, all);
		ways += w->all[i].ways.nr;
	}
	if (!err)
		err = waits_scan(w, from, ways, all);
	for (size_t i = from; i < w->nr; i++) {
		struct waits_entry *a = &w->all[i];

		a->wait.is_socket = !strncmp(a->end.link, "socket:", 7);
		ways_finish(&a->wait, &a->ways);
		if (all && a->wait.kind == WAIT_POLL && !a->wait.is_fed)
			children_follow(&a->wait);
		way_list_done(&a->ways);
	}
	return err;
}

/* Adds the processes. Copies @pids first, as adding may move the array that contains it. */
static int waits_put_all(struct waits *w, const pid_t *pids, unsigned nr)
{
	pid_t copy[WAIT_FOLLOWED];
	int at = 0;

	memcpy(copy, pids, nr * sizeof(*copy));
	for (unsigned i = 0; i < nr && at >= 0; i++)
		if (w->nr < w->given + MAX_FOLLOWED && copy[i] != getpid())
			at = waits_put(w, copy[i], 0);
	return at < 0 ? at : 0;
}

/* Adds the processes that those from @from on wait for. */
static int waits_follow(struct waits *w, size_t from)
{
	size_t end = w->nr;
	int err = 0;

	for (size_t i = from; i < end && !err; i++) {
		err = waits_put_all(w, w->all[i].wait.follow, w->all[i].wait.follows);
		if (!err)
			err = waits_put_all(w, w->all[i].wait.way, w->all[i].wait.ways);
	}
	return err;
}

/* Finds throttled processes among those ready to run. Returns false if out of memory. */
static bool waits_look_throttled(struct waits *w)
{
	struct wait **ready = memory_calloc(w->nr + 1, sizeof(*ready));
	size_t nr = 0;

	for (size_t i = 0; ready && i < w->nr; i++)
		if (w->all[i].wait.kind == WAIT_RUNS)
			ready[nr++] = &w->all[i].wait;
	throttles_look(ready, nr);
	free(ready);
	return ready != NULL;
}

int waits_read(struct waits *w, bool follow)
{
	struct look look = { 0 };
	size_t from = 0;
	int err;

	w->nr = w->given;
	do {
		size_t end = w->nr;

		err = waits_look(w, &look, from, follow);
		if (!err && follow)
			err = waits_follow(w, from);
		from = end;
	} while (!err && from < w->nr);
	look_done(&look);
	if (!err && follow && !waits_look_throttled(w))
		err = -ENOMEM;
	return err;
}

size_t waits_number(const struct waits *w)
{
	return w->nr;
}

size_t waits_given(const struct waits *w)
{
	return w->given;
}

const struct wait *waits_get(const struct waits *w, size_t at)
{
	return at < w->nr ? &w->all[at].wait : NULL;
}

#define MAX_DESCRIPTORS 1024 /* examined per process */
#define MAX_LISTENERS 1024
#define MAX_ROWS 65536 /* of a socket table; the TCP tables begin with the listeners */

struct member {
	pid_t pid, parent;
	enum wait_kind kind; /* of its main thread */
	bool listens;        /* has a socket for requests */
	bool is_server;      /* and waits for them; or is part of such a server */
	bool is_idle;
};

/* Sockets of a network namespace that accept connections, or datagrams from any sender. */
struct listeners {
	char space[64]; /* link text of the namespace; "" before the first read */
	uint64_t inodes[MAX_LISTENERS];
	size_t nr;
};

/* Returns whether this kind of wait is a block by another process or a device. */
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
	folder = memory_opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && !task_read(pid, atoi(entry->d_name), &task) &&
		    kind_is_blocked(detail_kind(&task)))
			return true;
	return !folder;
}

/*
 * Returns the inode of a socket that accepts connections, or datagrams from any sender; 0 for
 * others.
 */
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
	/* SO_ACCEPTCON, or a named and unconnected datagram socket */
	return flags & 0x10000 || (got == 5 && type == 2 && state == 1) ? inode : 0;
}

static void listeners_add(struct listeners *l, uint64_t inode)
{
	if (inode && l->nr < MAX_LISTENERS)
		l->inodes[l->nr++] = inode;
}

/* Reads the listeners of the process's network namespace, unless it is the last one read. */
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
		f = memory_fopen(path, "re");
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
	folder = memory_opendir(path);
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

/* Sets @link to the file that the thread reads; "" if it reads none, or that is unknown. */
static void thread_read_source(pid_t pid, const struct task_view *task, char *link, size_t size)
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
	thread_read_source(pid, &task, source, sizeof(source));
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

/* Returns whether the process is the master of a server whose workers serve requests. */
static bool member_is_master(const struct member *m)
{
	return m->listens && (m->kind == WAIT_SIGNAL || m->kind == WAIT_SLEEP ||
			      m->kind == WAIT_CHILD || m->kind == WAIT_POLL);
}

/*
 * Merges the children of servers, and their masters, into the servers. Returns whether any changed.
 */
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

/* Returns whether the process is a shell or supervisor whose children are all idle. */
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
	struct member *all = memory_calloc(nr + 1, sizeof(*all));
	struct listeners *l = memory_calloc(1, sizeof(*l));
	bool is_idle = all && l && nr;

	for (size_t i = 0; is_idle && i < nr; i++)
		is_idle = member_read(l, &all[i], pids[i]);
	is_idle = is_idle && members_are_idle(all, nr);
	free(l);
	free(all);
	return is_idle;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "waits/waits_memory.h"

#include "waits/syscalls.h"
#include "waits/fdinfo.h"

#include "base/cleanup.h"
#include "base/procstat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

bool memory_peek(pid_t pid, uint64_t address, void *out, size_t bytes)
{
	struct iovec here = { out, bytes }, there = { NULL, bytes };

	memcpy(&there.iov_base, &address, sizeof(there.iov_base));
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* A path, which ends in the same page or the next; false: not readable, or longer than @size. */
static bool memory_peek_path(pid_t pid, uint64_t address, char *out, size_t size)
{
	size_t page = 4096 - address % 4096, first = page < size ? page : size;

	if (!memory_peek(pid, address, out, first))
		return false;
	if (memchr(out, '\0', first))
		return true;
	return first < size && memory_peek(pid, address + first, out + first, size - first) &&
	       memchr(out, '\0', size);
}

/* Leaves out "." and what ".." leads out of. */
static void path_straighten(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		const char *name = from + strspn(from, "/");
		size_t n = strcspn(name, "/");

		from = name + n;
		if (n == 2 && !memcmp(name, "..", 2)) {
			while (to > path && *--to != '/')
				;
		} else if (n && !(n == 1 && *name == '.')) {
			*to++ = '/';
			memmove(to, name, n);
			to += n;
		}
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

bool call_path(pid_t pid, const struct task_view *task, char *out, size_t size)
{
	const struct call *call = call_of_task(task);
	char path[4096], link[64];
	int folder = AT_FDCWD;
	ssize_t n = 0;

	if (!call || (call->kind != CALL_OPEN && call->kind != CALL_PATH) ||
	    !memory_peek_path(pid, task->argument[call->fd_at + 1], path, sizeof(path)))
		return false;
	if (*path != '/') {
		if (call->fd_at >= 0)
			folder = (int)task->argument[call->fd_at];
		if (folder == AT_FDCWD)
			snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
		else
			snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, folder);
		n = readlink(link, out, size);
	}
	if (n < 0 || (size_t)n >= size)
		n = 0;
	snprintf(out + n, size - (size_t)n, n ? "/%s" : "%s", path);
	if (*out == '/')
		path_straighten(out);
	return true;
}

struct mapping {
	uint64_t begin, end, inode;
	char flags[8], device[16];
};

static bool mapping_next(FILE *f, struct mapping *m)
{
	char line[512];

	return fgets(line, sizeof(line), f) &&
	       sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %15s %" SCNu64, &m->begin, &m->end,
		      m->flags, m->device, &m->inode) == 5;
}

static FILE *mappings_open(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fopen(path, "re");
}

/* The shared mapping that has @address. */
static bool mapping_find(pid_t pid, uint64_t address, struct mapping *m)
{
	__cleanup(fclosep) FILE *f = mappings_open(pid);

	while (f && mapping_next(f, m))
		if (address >= m->begin && address < m->end)
			return m->flags[3] == 's';
	return false;
}

/* Whether the process maps the same file. */
static bool mapping_is_shared(pid_t pid, const struct mapping *file)
{
	__cleanup(fclosep) FILE *f = mappings_open(pid);
	struct mapping m;

	while (f && mapping_next(f, &m))
		if (m.flags[3] == 's' && m.inode == file->inode && !strcmp(m.device, file->device))
			return true;
	return false;
}

/* Whether the thread lives in a process that has the memory at @address, too. */
static bool thread_shares(pid_t pid, pid_t tid, uint64_t address, pid_t *leader)
{
	struct mapping m;

	return !procstat_read_leader(tid, leader) &&
	       (*leader == pid ||
		(mapping_find(pid, address, &m) && mapping_is_shared(*leader, &m)));
}

/* The beginning of a mutex of glibc, the same on all machines of 64 bits. */
struct glibc_mutex {
	int32_t word;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};

void futex_look(pid_t pid, const struct task_view *task, struct futex_view *view)
{
	uint64_t address = task->argument[0];
	int op = (int)(task->argument[1] & FUTEX_CMD_MASK);
	uint32_t expected = (uint32_t)task->argument[2];
	struct glibc_mutex m = { 0 };
	pid_t in_word;

	view->kind = WAIT_FUTEX;
	if (address % 4 ||
	    (!memory_peek(pid, address, &m, sizeof(m)) && !memory_peek(pid, address, &m, 4)))
		return;
	in_word = m.word & FUTEX_TID_MASK;
	/* of PI and robust mutexes, and of musl's, the word is the thread with a bit that says it
	 * is waited for */
	if ((m.word & (int32_t)FUTEX_WAITERS) && in_word &&
	    thread_shares(pid, in_word, address, &view->pid)) {
		view->kind = WAIT_MUTEX;
		view->tid = in_word;
		return;
	}
	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET)
		return;
	/* 2: locked, and waited for; users and kind tell a mutex from a lock that has only the word
	 */
	if (expected == 2 && m.word == 2 && m.owner > 0 && m.users >= 1 && m.users < 1u << 20 &&
	    m.kind >= 0 && m.kind < 1024 && thread_shares(pid, m.owner, address, &view->pid)) {
		view->kind = WAIT_MUTEX;
		view->tid = m.owner;
	} else if (expected > 2 && m.word > 0 && (uint32_t)m.word == expected &&
		   m.word != task->tid && !procstat_read_leader(m.word, &view->pid) &&
		   view->pid == pid) {
		/* the kernel clears the number at the thread's end, and wakes those that join it */
		view->kind = WAIT_JOIN;
		view->tid = m.word;
	}
}

uint64_t futex_file(pid_t pid, uint64_t address)
{
	struct mapping m;

	return mapping_find(pid, address, &m) ? (m.inode << 24) + (address - m.begin) + 1 : 0;
}

static unsigned poll_read(pid_t pid, const struct task_view *task, int *fds, unsigned room)
{
	struct pollfd all[64];
	uint64_t nr = task->argument[1];
	unsigned n = 0;

	if (nr > 64)
		return (unsigned)(nr < 1u << 20 ? nr : 1u << 20);
	if (!nr || !memory_peek(pid, task->argument[0], all, nr * sizeof(*all))) {
		if (room)
			fds[0] = -1;
		return (unsigned)nr;
	}
	for (uint64_t i = 0; i < nr; i++)
		if (all[i].fd >= 0) {
			if (n < room)
				fds[n] = all[i].fd;
			n++;
		}
	return n;
}

static unsigned select_read(pid_t pid, const struct task_view *task, int *fds, unsigned room)
{
	uint64_t nr = task->argument[0] < FD_SETSIZE ? task->argument[0] : FD_SETSIZE;
	fd_set set[3];
	unsigned n = 0;

	memset(set, 0, sizeof(set));
	for (int i = 0; i < 3; i++)
		if (task->argument[1 + i])
			memory_peek(pid, task->argument[1 + i], &set[i], (nr + 63) / 64 * 8);
	for (int fd = 0; fd < (int)nr; fd++)
		if (FD_ISSET(fd, &set[0]) || FD_ISSET(fd, &set[1]) || FD_ISSET(fd, &set[2])) {
			if (n < room)
				fds[n] = fd;
			n++;
		}
	return n;
}

static unsigned epoll_read(pid_t pid, const struct task_view *task, int *fds, unsigned room)
{
	char text[8192], *at;
	unsigned n = 0;
	int fd;

	if (fdinfo_read(pid, (int)task->argument[0], text, sizeof(text)) < 0)
		return 0;
	for (at = strstr(text, "tfd:"); at; at = strstr(at + 4, "tfd:")) {
		if (sscanf(at, "tfd: %d", &fd) == 1) {
			if (n < room)
				fds[n] = fd;
			n++;
		}
	}
	return n;
}

unsigned poll_descriptors(pid_t pid, const struct task_view *task, int *fds, unsigned room)
{
	const struct call *call = call_of_task(task);

	for (unsigned i = 0; i < room; i++)
		fds[i] = -1;
	if (!call)
		return 0;
	if (call->kind == CALL_POLL)
		return poll_read(pid, task, fds, room);
	return call->kind == CALL_SELECT ? select_read(pid, task, fds, room)
					 : epoll_read(pid, task, fds, room);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "waits/syscalls.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "waits/task.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NR(call) SYS_##call, #call

/* clang-format off */
static const struct call calls[] = {
	{ NR(read), CALL_READ, 0 }, { NR(readv), CALL_READ, 0 }, { NR(pread64), CALL_READ, 0 },
	{ NR(preadv), CALL_READ, 0 }, { NR(preadv2), CALL_READ, 0 }, { NR(recvfrom), CALL_READ, 0 },
	{ NR(recvmsg), CALL_READ, 0 }, { NR(recvmmsg), CALL_READ, 0 },
	{ NR(write), CALL_WRITE, 0 }, { NR(writev), CALL_WRITE, 0 }, { NR(pwrite64), CALL_WRITE, 0 },
	{ NR(pwritev), CALL_WRITE, 0 }, { NR(pwritev2), CALL_WRITE, 0 }, { NR(sendto), CALL_WRITE, 0 },
	{ NR(sendmsg), CALL_WRITE, 0 }, { NR(sendmmsg), CALL_WRITE, 0 }, { NR(vmsplice), CALL_WRITE, 0 },
	{ NR(accept), CALL_ACCEPT, 0 }, { NR(accept4), CALL_ACCEPT, 0 }, { NR(connect), CALL_CONNECT, 0 },
	{ NR(flock), CALL_FLOCK, 0 }, { NR(fcntl), CALL_FCNTL, 0 },
	{ NR(openat), CALL_OPEN, 0 }, { NR(openat2), CALL_OPEN, 0 },
	{ NR(futex), CALL_FUTEX, -1 }, { NR(wait4), CALL_CHILD, -1 }, { NR(waitid), CALL_CHILD, -1 },
	{ NR(clone), CALL_FORK, -1 }, { NR(clone3), CALL_FORK, -1 },
	{ NR(ppoll), CALL_POLL, -1 }, { NR(pselect6), CALL_SELECT, -1 }, { NR(epoll_pwait), CALL_EPOLL, 0 },
	{ NR(nanosleep), CALL_SLEEP, -1 }, { NR(clock_nanosleep), CALL_SLEEP, -1 },
	{ NR(rt_sigsuspend), CALL_SIGNAL, -1 }, { NR(rt_sigtimedwait), CALL_SIGNAL, -1 },
	{ NR(io_uring_enter), CALL_URING, 0 }, { NR(io_getevents), CALL_OTHER, -1 },
	{ NR(msgrcv), CALL_IPC, -1 }, { NR(msgsnd), CALL_IPC, -1 }, { NR(semop), CALL_IPC, -1 },
	{ NR(semtimedop), CALL_IPC, -1 }, { NR(mq_timedreceive), CALL_IPC, 0 }, { NR(mq_timedsend), CALL_IPC, 0 },
	{ NR(fsync), CALL_FILE, 0 }, { NR(fdatasync), CALL_FILE, 0 }, { NR(syncfs), CALL_FILE, 0 },
	{ NR(fallocate), CALL_FILE, 0 }, { NR(ftruncate), CALL_FILE, 0 }, { NR(getdents64), CALL_FILE, 0 },
	{ NR(ioctl), CALL_FILE, 0 }, { NR(fstat), CALL_FILE, 0 }, { NR(close), CALL_FILE, 0 },
	{ NR(splice), CALL_SPLICE, 0 }, { NR(tee), CALL_SPLICE, 0 }, { NR(sendfile), CALL_SPLICE, 1 },
	{ NR(copy_file_range), CALL_FILE, 0 }, { NR(sync), CALL_OTHER, -1 }, { NR(mount), CALL_OTHER, -1 },
	{ NR(umount2), CALL_PATH, -1 }, { NR(getrandom), CALL_OTHER, -1 }, { NR(exit_group), CALL_OTHER, -1 },
	{ NR(statx), CALL_PATH, 0 }, { NR(newfstatat), CALL_PATH, 0 }, { NR(faccessat), CALL_PATH, 0 },
	{ NR(readlinkat), CALL_PATH, 0 }, { NR(unlinkat), CALL_PATH, 0 }, { NR(mkdirat), CALL_PATH, 0 },
	{ NR(renameat2), CALL_PATH, 0 }, { NR(linkat), CALL_PATH, 0 }, { NR(fchmodat), CALL_PATH, 0 },
	{ NR(fchownat), CALL_PATH, 0 }, { NR(utimensat), CALL_PATH, 0 }, { NR(mknodat), CALL_PATH, 0 },
	{ NR(execve), CALL_PATH, -1 }, { NR(chdir), CALL_PATH, -1 }, { NR(statfs), CALL_PATH, -1 },
	{ NR(truncate), CALL_PATH, -1 }, { NR(getxattr), CALL_PATH, -1 }, { NR(lgetxattr), CALL_PATH, -1 },
	{ NR(listxattr), CALL_PATH, -1 }, { NR(llistxattr), CALL_PATH, -1 }, { NR(setxattr), CALL_PATH, -1 },
#ifdef SYS_faccessat2
	{ NR(faccessat2), CALL_PATH, 0 },
#endif
#ifdef SYS_epoll_pwait2
	{ NR(epoll_pwait2), CALL_EPOLL, 0 },
#endif
#ifdef SYS_futex_waitv
	{ NR(futex_waitv), CALL_OTHER, -1 },
#endif
#ifdef SYS_open /* and others that newer architectures lack */
	{ NR(open), CALL_OPEN, -1 }, { NR(vfork), CALL_FORK, -1 }, { NR(poll), CALL_POLL, -1 },
	{ NR(select), CALL_SELECT, -1 }, { NR(epoll_wait), CALL_EPOLL, 0 }, { NR(pause), CALL_SIGNAL, -1 },
	{ NR(stat), CALL_PATH, -1 }, { NR(lstat), CALL_PATH, -1 }, { NR(access), CALL_PATH, -1 },
	{ NR(unlink), CALL_PATH, -1 }, { NR(mkdir), CALL_PATH, -1 }, { NR(rmdir), CALL_PATH, -1 },
	{ NR(rename), CALL_PATH, -1 }, { NR(readlink), CALL_PATH, -1 }, { NR(chmod), CALL_PATH, -1 },
	{ NR(chown), CALL_PATH, -1 }, { NR(lchown), CALL_PATH, -1 }, { NR(link), CALL_PATH, -1 },
#endif
};

/*
 * Prefixes, as compilers and releases change the ends. get_signal() sleeps interruptibly only in
 * do_freezer_trap(), which compilers inline into it.
 */
static const struct {
	const char *begin;
	enum wait_kind kind;
} channels[] = {
	{ "anon_pipe_read", WAIT_PIPE_READ }, { "pipe_read", WAIT_PIPE_READ },
	{ "anon_pipe_write", WAIT_PIPE_WRITE }, { "pipe_write", WAIT_PIPE_WRITE },
	{ "fifo_pipe_read", WAIT_PIPE_READ }, { "fifo_pipe_write", WAIT_PIPE_WRITE },
	{ "pipe_wait_readable", WAIT_PIPE_READ }, { "pipe_wait_writable", WAIT_PIPE_WRITE },
	{ "wait_for_partner", WAIT_PIPE_OPEN }, { "futex_", WAIT_FUTEX }, { "do_wait", WAIT_CHILD },
	{ "kernel_clone", WAIT_CHILD }, { "wait_for_vfork_done", WAIT_CHILD },
	{ "locks_lock_inode_wait", WAIT_LOCK }, { "flock_lock_inode_wait", WAIT_LOCK },
	{ "posix_lock_inode_wait", WAIT_LOCK }, { "fcntl_setlk", WAIT_LOCK }, { "do_lock_file_wait", WAIT_LOCK },
	{ "__break_lease", WAIT_LOCK }, { "request_wait_answer", WAIT_SERVER },
	{ "unix_stream_read", WAIT_RECEIVE }, { "unix_stream_data_wait", WAIT_RECEIVE },
	{ "sk_wait_data", WAIT_RECEIVE }, { "__skb_wait_for_more_packets", WAIT_RECEIVE },
	{ "sk_stream_wait_memory", WAIT_SEND }, { "sock_alloc_send_pskb", WAIT_SEND },
	{ "inet_csk_accept", WAIT_ACCEPT }, { "inet_csk_wait_for_connect", WAIT_ACCEPT },
	{ "inet_wait_for_connect", WAIT_CONNECT }, { "hrtimer_nanosleep", WAIT_SLEEP },
	{ "do_nanosleep", WAIT_SLEEP }, { "poll_schedule_timeout", WAIT_POLL }, { "do_sys_poll", WAIT_POLL },
	{ "do_select", WAIT_POLL }, { "do_poll", WAIT_POLL }, { "ep_poll", WAIT_POLL }, { "do_epoll_wait", WAIT_POLL },
	{ "__do_sys_pause", WAIT_SIGNAL }, { "sigsuspend", WAIT_SIGNAL }, { "do_sigtimedwait", WAIT_SIGNAL },
	{ "n_tty_read", WAIT_TERMINAL }, { "io_cqring_wait", WAIT_URING }, { "do_msgrcv", WAIT_IPC },
	{ "do_msgsnd", WAIT_IPC }, { "do_semtimedop", WAIT_IPC }, { "__do_semtimedop", WAIT_IPC },
	{ "get_signal", WAIT_FROZEN }, { "do_freezer_trap", WAIT_FROZEN }, { "__refrigerator", WAIT_FROZEN },
};

static const struct {
	const char *begin;
	enum mount_server server;
} servers[] = {
	{ "request_wait_answer", SERVER_FUSE }, { "__fuse_", SERVER_FUSE }, { "fuse_", SERVER_FUSE },
	{ "rpc_wait_bit_killable", SERVER_NFS }, { "nfs", SERVER_NFS },
	{ "wait_for_response", SERVER_SMB }, { "cifs_", SERVER_SMB }, { "p9_", SERVER_OTHER },
	{ "ceph_", SERVER_OTHER },
};

static const struct {
	const char *begin, *what;
} disks[] = {
	{ "folio_wait_bit", "the disk" }, { "wait_on_page_bit", "the disk" }, { "io_schedule", "the disk" },
	{ "__lock_page", "the disk" }, { "wait_on_buffer", "the disk" }, { "__wait_on_buffer", "the disk" },
	{ "bit_wait_io", "the disk" }, { "submit_bio_wait", "the disk" }, { "__blkdev_direct_IO", "the disk" },
	{ "blkdev_direct_IO", "the disk" }, { "blk_", "the disk" }, { "rq_qos_wait", "the disk" },
	{ "iomap_dio", "the disk" }, { "__iomap_dio", "the disk" }, { "jbd2_", "the disk" }, { "xfs_buf_", "the disk" },
	{ "xlog_", "the disk" }, { "btrfs_wait", "the disk" }, { "balance_dirty_pages", "the disk (too many unwritten pages)" },
	{ "percpu_rwsem_wait", "a kernel lock, for example of a frozen file system" },
	{ "sb_start_write", "a frozen file system" },
};
/* clang-format on */

const struct call *call_of_task(const struct task_view *task)
{
	if (!task->has_call)
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].number == task->call)
			return &calls[i];
	return NULL;
}

/* Arguments that point to a timeout, or are NULL. */
static const struct {
	const char *name;
	unsigned at;
} timeouts[] = {
	{ "ppoll", 2 },        { "select", 4 },          { "pselect6", 4 },
	{ "epoll_pwait2", 3 }, { "semtimedop", 3 },      { "rt_sigtimedwait", 2 },
	{ "mq_timedsend", 4 }, { "mq_timedreceive", 4 }, { "futex", 3 },
};

bool call_has_timeout(const struct task_view *task)
{
	const struct call *call = call_of_task(task);

	if (!call)
		return false;
	if (call->kind == CALL_SLEEP)
		return true;
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(*timeouts); i++)
		if (!strcmp(call->name, timeouts[i].name))
			return task->argument[timeouts[i].at] != 0;
	/* milliseconds; negative for none */
	if (call->kind == CALL_POLL)
		return (int)task->argument[2] >= 0;
	return call->kind == CALL_EPOLL && (int)task->argument[3] >= 0;
}

enum wait_kind channel_kind(const char *channel)
{
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++)
		if (!strncmp(channel, channels[i].begin, strlen(channels[i].begin)))
			return channels[i].kind;
	return WAIT_OTHER;
}

enum mount_server channel_server(const char *channel)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++)
		if (!strncmp(channel, servers[i].begin, strlen(servers[i].begin)))
			return servers[i].server;
	return SERVER_NONE;
}

const char *channel_disk(const char *channel)
{
	for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++)
		if (!strncmp(channel, disks[i].begin, strlen(disks[i].begin)))
			return disks[i].what;
	return NULL;
}

bool memory_peek(pid_t pid, uint64_t address, void *out, size_t bytes)
{
	struct iovec here = { out, bytes }, there = { NULL, bytes };

	memcpy(&there.iov_base, &address, sizeof(there.iov_base));
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/*
 * Reads a path that ends in the same page or the next. Returns false if it is unreadable, or longer
 * than @size.
 */
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

/* Removes "." and "..". */
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
	return memory_fopen(path, "re");
}

/* Finds the mapping with @address. Returns false if it is not shared. */
static bool mapping_find(pid_t pid, uint64_t address, struct mapping *m)
{
	__cleanup(fclosep) FILE *f = mappings_open(pid);

	while (f && mapping_next(f, m))
		if (address >= m->begin && address < m->end)
			return m->flags[3] == 's';
	return false;
}

/* Returns whether the process maps the same file. */
static bool mapping_is_shared(pid_t pid, const struct mapping *file)
{
	__cleanup(fclosep) FILE *f = mappings_open(pid);
	struct mapping m;

	while (f && mapping_next(f, &m))
		if (m.flags[3] == 's' && m.inode == file->inode && !strcmp(m.device, file->device))
			return true;
	return false;
}

/* Returns whether the thread is alive and its process shares the memory at @address. */
static bool thread_shares(pid_t pid, pid_t tid, uint64_t address, pid_t *leader)
{
	struct mapping m;

	return !procstat_read_leader(tid, leader) &&
	       (*leader == pid ||
		(mapping_find(pid, address, &m) && mapping_is_shared(*leader, &m)));
}

/* The beginning of a glibc mutex, identical on all 64-bit architectures. */
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
	/* PI, robust and musl mutexes: the word is the tid, with a bit if there are waiters */
	if ((m.word & (int32_t)FUTEX_WAITERS) && in_word &&
	    thread_shares(pid, in_word, address, &view->pid)) {
		view->kind = WAIT_MUTEX;
		view->tid = in_word;
		return;
	}
	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET)
		return;
	/*
	 * 2: locked with waiters; users and kind distinguish a mutex from a lock that is only a
	 * word
	 */
	if (expected == 2 && m.word == 2 && m.owner > 0 && m.users >= 1 && m.users < 1u << 20 &&
	    m.kind >= 0 && m.kind < 1024 && thread_shares(pid, m.owner, address, &view->pid)) {
		view->kind = WAIT_MUTEX;
		view->tid = m.owner;
	} else if (expected > 2 && m.word > 0 && (uint32_t)m.word == expected &&
		   m.word != task->tid && !procstat_read_leader(m.word, &view->pid) &&
		   view->pid == pid) {
		/* the kernel clears the tid when the thread exits, and wakes those that join it */
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

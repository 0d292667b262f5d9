// SPDX-License-Identifier: BSD-2-Clause
#include "waits/syscalls.h"

#include <string.h>
#include <sys/syscall.h>

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
#ifdef SYS_open /* and others that newer machines have not */
	{ NR(open), CALL_OPEN, -1 }, { NR(vfork), CALL_FORK, -1 }, { NR(poll), CALL_POLL, -1 },
	{ NR(select), CALL_SELECT, -1 }, { NR(epoll_wait), CALL_EPOLL, 0 }, { NR(pause), CALL_SIGNAL, -1 },
	{ NR(stat), CALL_PATH, -1 }, { NR(lstat), CALL_PATH, -1 }, { NR(access), CALL_PATH, -1 },
	{ NR(unlink), CALL_PATH, -1 }, { NR(mkdir), CALL_PATH, -1 }, { NR(rmdir), CALL_PATH, -1 },
	{ NR(rename), CALL_PATH, -1 }, { NR(readlink), CALL_PATH, -1 }, { NR(chmod), CALL_PATH, -1 },
	{ NR(chown), CALL_PATH, -1 }, { NR(lchown), CALL_PATH, -1 }, { NR(link), CALL_PATH, -1 },
#endif
};

/*
 * Beginnings of the names, since compilers and releases change the ends. get_signal() sleeps interruptibly only in
 * do_freezer_trap(), which compilers put into it.
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
	{ "xlog_", "the disk" }, { "btrfs_wait", "the disk" }, { "balance_dirty_pages", "the disk (too much is unwritten)" },
	{ "percpu_rwsem_wait", "a lock of the kernel, as of a frozen file system" },
	{ "sb_start_write", "a frozen file system to be thawed" },
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

/* The argument of a call that is a time in memory, or NULL. */
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
	/* milliseconds, or less than 0 */
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

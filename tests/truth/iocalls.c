// SPDX-License-Identifier: BSD-2-Clause
/*
 * One call of each kind that moves bytes, of 8192 bytes, with its effect on /proc/self/io: the
 * witness has `calls`, by name [rchar, wchar, syscr, syscw]. What this machine refuses is not in it.
 * The files are in DIR, and are unlinked.
 * Usage: iocalls DIR
 */
#include "truth.h"
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define BYTES 8192L
#define NO_RESULT (-1000L)

static int file, other, proc_io, pipes[2], sockets[2];
static char *buf, *map;
static struct iovec iov;
static struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

static struct ring {
	int fd;
	struct io_uring_params p;
	struct io_uring_sqe *sqe;
	char *words;
} ring = { .fd = -1 };
static aio_context_t aio;

static int file_open_unlinked(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/truth-iocalls-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0 || unlink(path) || ftruncate(fd, BYTES))
		truth_fail("%s", path);
	return fd;
}

static void ring_open(void)
{
	size_t size;

	ring.fd = syscall(SYS_io_uring_setup, 1, &ring.p);
	if (ring.fd < 0 && (errno == ENOSYS || errno == EPERM))
		return;
	if (ring.fd < 0)
		truth_fail("io_uring_setup");
	if (!(ring.p.features & IORING_FEAT_SINGLE_MMAP))
		truth_fail("io_uring with two maps");
	size = ring.p.cq_off.cqes + ring.p.cq_entries * sizeof(struct io_uring_cqe);
	ring.words = mmap(NULL, size > 4096 ? size : 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring.fd, IORING_OFF_SQ_RING);
	ring.sqe = mmap(NULL, sizeof(*ring.sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
			IORING_OFF_SQES);
	if (ring.words == MAP_FAILED || ring.sqe == MAP_FAILED)
		truth_fail("mmap of the ring");
}

static unsigned int *ring_word(unsigned int offset)
{
	return (unsigned int *)(ring.words + offset);
}

/* One operation, and its result. */
static long ring_do(int opcode, int flags, int fd)
{
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(ring.words + ring.p.cq_off.cqes);
	unsigned int tail, head;

	if (ring.fd < 0)
		return NO_RESULT;
	*ring.sqe = (struct io_uring_sqe){ .opcode = opcode, .flags = flags, .fd = fd,
					   .addr = (uintptr_t)buf, .len = BYTES };
	tail = *ring_word(ring.p.sq_off.tail);
	ring_word(ring.p.sq_off.array)[tail & *ring_word(ring.p.sq_off.ring_mask)] = 0;
	__atomic_store_n(ring_word(ring.p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1)
		truth_fail("io_uring_enter");
	head = *ring_word(ring.p.cq_off.head);
	__atomic_store_n(ring_word(ring.p.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return cqes[head & *ring_word(ring.p.cq_off.ring_mask)].res;
}

static long aio_do(int opcode)
{
	struct iocb cb = { .aio_lio_opcode = opcode, .aio_fildes = file,
			   .aio_buf = (uintptr_t)buf, .aio_nbytes = BYTES }, *list = &cb;
	struct io_event event;

	if (!aio && syscall(SYS_io_setup, 1, &aio))
		return NO_RESULT;
	if (syscall(SYS_io_submit, aio, 1, &list) != 1 ||
	    syscall(SYS_io_getevents, aio, 1, 1, &event, NULL) != 1)
		truth_fail("io_submit");
	return event.res;
}

/* clang-format off */
static long do_read(void) { return read(file, buf, BYTES); }
static long do_pread(void) { return pread(file, buf, BYTES, 0); }
static long do_readv(void) { return readv(file, &iov, 1); }
static long do_preadv(void) { return preadv(file, &iov, 1, 0); }
static long do_read_pipe(void) { return read(pipes[0], buf, BYTES); }
static long do_read_socket(void) { return read(sockets[0], buf, BYTES); }
static long do_read_end(void) { return BYTES + pread(file, buf, BYTES, BYTES); }
static long do_recv(void) { return recv(sockets[0], buf, BYTES, 0); }
static long do_recvfrom(void) { return recvfrom(sockets[0], buf, BYTES, 0, NULL, NULL); }
static long do_recvmsg(void) { return recvmsg(sockets[0], &message, 0); }
static long do_write(void) { return write(file, buf, BYTES); }
static long do_pwrite(void) { return pwrite(file, buf, BYTES, 0); }
static long do_writev(void) { return writev(file, &iov, 1); }
static long do_pwritev(void) { return pwritev(file, &iov, 1, 0); }
static long do_write_pipe(void) { return write(pipes[1], buf, BYTES); }
static long do_write_socket(void) { return write(sockets[1], buf, BYTES); }
static long do_send(void) { return send(sockets[1], buf, BYTES, 0); }
static long do_sendto(void) { return sendto(sockets[1], buf, BYTES, 0, NULL, 0); }
static long do_sendmsg(void) { return sendmsg(sockets[1], &message, 0); }
static long do_sendfile(void) { return sendfile(other, file, NULL, BYTES); }
static long do_sendfile_socket(void) { return sendfile(sockets[1], file, NULL, BYTES); }
static long do_copy(void) { return copy_file_range(file, NULL, other, NULL, BYTES, 0); }
static long do_splice_in(void) { return splice(file, NULL, pipes[1], NULL, BYTES, 0); }
static long do_splice_out(void) { return splice(pipes[0], NULL, file, NULL, BYTES, 0); }
static long do_vmsplice(void) { return vmsplice(pipes[1], &iov, 1, 0); }
static long do_aio_read(void) { return aio_do(IOCB_CMD_PREAD); }
static long do_aio_write(void) { return aio_do(IOCB_CMD_PWRITE); }
static long do_ring_read(void) { return ring_do(IORING_OP_READ, 0, file); }
static long do_ring_write(void) { return ring_do(IORING_OP_WRITE, 0, file); }
static long do_worker_read(void) { return ring_do(IORING_OP_READ, IOSQE_ASYNC, file); }
static long do_worker_write(void) { return ring_do(IORING_OP_WRITE, IOSQE_ASYNC, file); }
static long do_ring_recv(void) { return ring_do(IORING_OP_RECV, 0, sockets[0]); }
static long do_ring_send(void) { return ring_do(IORING_OP_SEND, 0, sockets[1]); }
static long do_map_read(void) { memcpy(buf, map, BYTES); return BYTES; }
static long do_map_write(void) { memcpy(map, buf, BYTES); return msync(map, BYTES, MS_SYNC) ? -1 : BYTES; }
static long do_vm_read(void) { return process_vm_readv(getpid(), &iov, 1, &(struct iovec){ map, BYTES }, 1, 0); }

/* In this order: what is written to the pipe and the sockets is read by what follows. */
static const struct { const char *name; long (*act)(void); } calls[] = {
	{ "read", do_read }, { "pread", do_pread }, { "readv", do_readv }, { "preadv", do_preadv },
	{ "write", do_write }, { "pwrite", do_pwrite }, { "writev", do_writev }, { "pwritev", do_pwritev },
	{ "write to a pipe", do_write_pipe }, { "read of a pipe", do_read_pipe },
	{ "write to a socket", do_write_socket }, { "read of a socket", do_read_socket },
	{ "read at the end", do_read_end },
	{ "send", do_send }, { "recv", do_recv }, { "sendto", do_sendto }, { "recvfrom", do_recvfrom },
	{ "sendmsg", do_sendmsg }, { "recvmsg", do_recvmsg },
	{ "sendfile", do_sendfile }, { "sendfile to a socket", do_sendfile_socket },
	{ "recv after sendfile", do_recv }, { "copy_file_range", do_copy },
	{ "splice to a pipe", do_splice_in }, { "splice from a pipe", do_splice_out },
	{ "vmsplice", do_vmsplice }, { "splice after vmsplice", do_splice_out },
	{ "io_submit read", do_aio_read }, { "io_submit write", do_aio_write },
	{ "io_uring read", do_ring_read }, { "io_uring write", do_ring_write },
	{ "io_uring read by a worker", do_worker_read }, { "io_uring write by a worker", do_worker_write },
	{ "io_uring send", do_ring_send }, { "io_uring recv", do_ring_recv },
	{ "mmap read", do_map_read }, { "mmap write", do_map_write },
	{ "process_vm_readv", do_vm_read },
};
/* clang-format on */

/* Returns the size of what was read, which the counters then do not have in them yet. */
static long io_counters_read(long value[4])
{
	char text[1024];
	ssize_t n = pread(proc_io, text, sizeof(text) - 1, 0);

	if (n <= 0)
		truth_fail("/proc/self/io");
	text[n] = '\0';
	if (sscanf(text, "rchar: %ld wchar: %ld syscr: %ld syscw: %ld", &value[0], &value[1],
		   &value[2], &value[3]) != 4)
		truth_fail("/proc/self/io has %s", text);
	return n;
}

/* What one call was, as a member of `calls`; nothing where the machine refuses it. */
static int call_measure(size_t i, char *out, size_t size)
{
	long before[4], after[4], n, result;

	if (lseek(file, 0, SEEK_SET) || lseek(other, 0, SEEK_SET))
		truth_fail("lseek");
	n = io_counters_read(before);
	result = calls[i].act();
	io_counters_read(after);
	if (result == NO_RESULT)
		return 0;
	errno = result < 0 && result > -200 ? -result : errno;
	if (result != BYTES)
		truth_fail("%s: %ld bytes", calls[i].name, result);
	return snprintf(out, size, "%s\"%s\":[%ld,%ld,%ld,%ld]", i ? "," : "", calls[i].name,
			after[0] - before[0] - n, after[1] - before[1], after[2] - before[2] - 1,
			after[3] - before[3]);
}

int main(int argc, char **argv)
{
	char text[4096] = "";
	size_t used = 0;

	if (argc != 2)
		truth_usage("iocalls DIR");
	file = file_open_unlinked(argv[1]);
	other = file_open_unlinked(argv[1]);
	buf = memory_map_small(BYTES);
	iov = (struct iovec){ buf, BYTES };
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	proc_io = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	if (map == MAP_FAILED || proc_io < 0 || pipe2(pipes, O_CLOEXEC) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		truth_fail("files");
	ring_open();
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		used += call_measure(i, text + used, sizeof(text) - used);
	truth_write(1, 0, 0, ",\"bytes\":%ld,\"calls\":{%s}", BYTES, text);
	return 0;
}

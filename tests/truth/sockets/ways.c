// SPDX-License-Identifier: BSD-2-Clause
/* Each kind of call that moves bytes through a socket, by its name. */
#include "sockets.h"
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define BATCH 4 /* messages of sendmmsg() and recvmmsg() */

static struct io_uring_params params;
static struct io_uring_sqe *sqe;
static char *sq, *cq;
static int ring = -1;

static void ring_open(void)
{
	ring = ring_setup(4, &params);
	sq = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring, IORING_OFF_SQ_RING);
	cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
}

static void ring_needs(int opcode, const char *name)
{
	union {
		struct io_uring_probe probe;
		char room[sizeof(struct io_uring_probe) + 256 * sizeof(struct io_uring_probe_op)];
	} all = { 0 };

	checked(syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, &all, 256),
		"IORING_REGISTER_PROBE");
	errno = 0;
	if (opcode > all.probe.last_op || !(all.probe.ops[opcode].flags & IO_URING_OP_SUPPORTED))
		truth_skip("the kernel's io_uring has no %s", name);
}

/* One operation at a time; its result, as a call would give it. */
static ssize_t ring_do(int opcode, const char *name, int fd, void *buf, size_t n)
{
	struct io_uring_cqe *cqe;
	unsigned int *head, mask;
	ssize_t result = 0;
	bool more = true;

	if (ring < 0) {
		ring_open();
		ring_needs(opcode, name);
	}
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buf;
	sqe->len = n;
	((unsigned int *)(sq + params.sq_off.array))[0] = 0;
	((unsigned int *)(sq + params.sq_off.array))[1] = 0;
	((unsigned int *)(sq + params.sq_off.array))[2] = 0;
	((unsigned int *)(sq + params.sq_off.array))[3] = 0;
	__atomic_fetch_add((unsigned int *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	checked(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0),
		"io_uring_enter");
	head = (unsigned int *)(cq + params.cq_off.head);
	mask = *(unsigned int *)(cq + params.cq_off.ring_mask);
	while (more) { /* of zero-copy a second result says that the buffer is free again */
		while (*head ==
		       __atomic_load_n((unsigned int *)(cq + params.cq_off.tail), __ATOMIC_ACQUIRE))
			checked(syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, 0,
					0),
				"io_uring_enter");
		cqe = &((struct io_uring_cqe *)(cq + params.cq_off.cqes))[*head & mask];
		if (!(cqe->flags & IORING_CQE_F_NOTIF))
			result = cqe->res;
		more = cqe->flags & IORING_CQE_F_MORE;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
	errno = result < 0 ? -result : 0;
	return result < 0 ? -1 : result;
}

static void vector_fill(struct mmsghdr *messages, struct iovec *parts, size_t n)
{
	memset(messages, 0, BATCH * sizeof(*messages));
	for (int i = 0; i < BATCH; i++) {
		parts[i] = (struct iovec){ block, n };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
}

/* The bytes of all messages; those after the first are calls, too. */
static ssize_t vector_sum(struct side *s, const struct mmsghdr *messages, int nr)
{
	ssize_t sum = 0;

	for (int i = 0; i < nr; i++)
		sum += messages[i].msg_len;
	s->calls += nr - 1;
	return sum;
}

static void zerocopy_wait(int fd)
{
	char control[128];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = fd };

	poll(&p, 1, -1); /* POLLERR: the buffer is free again */
	recvmsg(fd, &m, MSG_ERRQUEUE);
}

ssize_t send_once(int fd, const char *way, size_t n)
{
	struct iovec halves[2] = { { block, n / 2 }, { block + n / 2, n - n / 2 } }, parts[BATCH];
	struct msghdr m = { .msg_iov = halves, .msg_iovlen = 2 };
	struct mmsghdr messages[BATCH];
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t sent;
	off_t at = 0;
	loff_t from = 0;

	if (!strcmp(way, "send"))
		return send(fd, block, n, 0);
	if (!strcmp(way, "write"))
		return write(fd, block, n);
	if (!strcmp(way, "writev"))
		return writev(fd, halves, 2);
	if (!strcmp(way, "sendmsg"))
		return sendmsg(fd, &m, 0);
	if (!strcmp(way, "sendmmsg")) {
		vector_fill(messages, parts, n / BATCH);
		return vector_sum(&said->sender, messages,
				  (int)checked(sendmmsg(fd, messages, BATCH, 0), way));
	}
	if (!strcmp(way, "sendfile"))
		return sendfile(fd, file, &at, n);
	if (!strcmp(way, "splice")) {
		n = (size_t)checked(splice(file, &from, tube[1], NULL, n, 0), "splice to the pipe");
		return splice(tube[0], NULL, fd, NULL, n, 0);
	}
	if (!strcmp(way, "uring"))
		return ring_do(IORING_OP_SEND, "SEND", fd, block, n);
	if (!strcmp(way, "uringzc"))
		return ring_do(IORING_OP_SEND_ZC, "SEND_ZC (6.0)", fd, block, n);
	if (!strcmp(way, "zerocopy")) {
		sent = send(fd, block, n, MSG_ZEROCOPY);
		zerocopy_wait(fd);
		return sent;
	}
	if (!strcmp(way, "partial")) {
		while ((sent = send(fd, block, n, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
			poll(&p, 1, -1);
		return sent;
	}
	errno = 0;
	truth_fail("no such way to send: %s", way);
}

ssize_t receive_once(int fd, const char *way, size_t n)
{
	struct iovec halves[2] = { { block, n / 2 }, { block + n / 2, n - n / 2 } }, parts[BATCH];
	struct msghdr m = { .msg_iov = halves, .msg_iovlen = 2 };
	struct mmsghdr messages[BATCH];
	static int sink = -1;
	ssize_t got;

	if (!strcmp(way, "recv"))
		return recv(fd, block, n, 0);
	if (!strcmp(way, "read"))
		return read(fd, block, n);
	if (!strcmp(way, "recvmsg"))
		return recvmsg(fd, &m, 0);
	if (!strcmp(way, "recvmmsg")) {
		vector_fill(messages, parts, n / BATCH);
		return vector_sum(
			&said->receiver, messages,
			(int)checked(recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL), way));
	}
	if (!strcmp(way, "peek")) {
		checked(recv(fd, block, n, MSG_PEEK), way);
		return recv(fd, block, n, 0);
	}
	if (!strcmp(way, "uring"))
		return ring_do(IORING_OP_RECV, "RECV", fd, block, n);
	if (!strcmp(way, "splice")) {
		if (sink < 0)
			sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
		got = checked(splice(fd, NULL, tube[1], NULL, n, 0), way);
		for (ssize_t left = got; left;)
			left -= checked(splice(tube[0], NULL, sink, NULL, (size_t)left, 0),
					"splice to null");
		return got;
	}
	errno = 0;
	truth_fail("no such way to receive: %s", way);
}

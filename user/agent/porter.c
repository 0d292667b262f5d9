// SPDX-License-Identifier: BSD-2-Clause
#include "agent/porter.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/message.h"
#include "base/user.h"
#include "base/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 256 /* concurrent */
#define CHILDREN_OF_USER 64
#define HANGING_OF_USER 8 /* of these, older than HANGING_NS */
#define HANGING_NS (2 * NSEC_PER_SEC)
#define NO_USER ((uid_t)-1)
#define LOOK_MS 200   /* between checks of running children */
#define LEAVE_MS 1000 /* for a client to read a refusal before its connection is closed */
#define STEP_MS 2
#define MANY_CHILDREN 32 /* then unread data is not waited for */

struct porter {
	int fd;
	const _Atomic uint64_t *closed_id;
	struct porter_child {
		pid_t pid; /* 0: unused slot */
		uid_t uid; /* NO_USER: closes what any user has sent */
		uint64_t began_ns;
	} children[CHILDREN];
	size_t nr;
};

static bool fd_is_plain_socket(int fd)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof(int), at_size = sizeof(at);
	int domain, type;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return false;
	if (domain == AF_INET || domain == AF_INET6)
		return type == SOCK_DGRAM;
	if (domain != AF_UNIX)
		return false;
	/* an unconnected one could listen, and close many others with itself */
	return type == SOCK_DGRAM ||
	       (type == SOCK_STREAM && !getpeername(fd, (struct sockaddr *)&at, &at_size));
}

static bool fd_is_harmless(int fd)
{
	pid_t pid;

	if (fd_is_plain_socket(fd))
		return true;
	pid = pidfd_pid(fd);
	return pid > 0 || pid == -ESRCH;
}

static ssize_t packet_take(int fd, void *bytes, size_t size, int *fds, size_t *nr, int flags)
{
	struct iovec at = { bytes, size };
	union passed_fds r = { 0 };
	struct msghdr h = { .msg_iov = &at,
			    .msg_iovlen = 1,
			    .msg_control = r.room,
			    .msg_controllen = sizeof(r.room) };
	ssize_t n;

	do
		n = recvmsg(fd, &h, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*nr = n < 0 ? 0 : fds_read(&h, fds);
	if (n < 0)
		return -errno;
	return h.msg_flags & MSG_CTRUNC ? -EMFILE : n;
}

static void packet_pass(int fd, const void *bytes, size_t size, const int *fds, size_t nr)
{
	struct iovec at = { (void *)bytes, size };
	union passed_fds r = { 0 };
	struct msghdr h = { .msg_iov = &at, .msg_iovlen = 1 };

	fds_put(&h, &r, fds, nr);
	while (sendmsg(fd, &h, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Received descriptors stay open until this process exits, which the client does not wait for. */
static void packet_forward(int porter_fd, const struct porter_order *o, int connection)
{
	struct porter_answer answer = { .id = o->id };
	int fds[FDS_AT_ONCE], none = eventfd(0, EFD_CLOEXEC);
	size_t nr = 0;
	ssize_t n = packet_take(connection, &answer.packet, sizeof(answer.packet), fds, &nr,
				MSG_DONTWAIT);

	if (n < 0)
		answer.err = (int32_t)n;
	else if (n != sizeof(answer.packet) || nr > MESSAGE_FDS || none < 0)
		answer.err = -EBADMSG;
	if (answer.err)
		nr = 0;
	for (size_t i = 0; i < nr; i++)
		if (!fd_is_harmless(fds[i]))
			fds[i] = none;
	packet_pass(porter_fd, &answer, sizeof(answer), fds, nr);
}

/* Waits until this process has the only copy, or the agent has ended. */
static void closing_wait_for(const struct porter *p, uint64_t id)
{
	struct pollfd agent = { .fd = p->fd, .events = 0 };

	while (*p->closed_id < id && !poll(&agent, 1, 1))
		;
}

/*
 * Waits until the client has read its last message: closing with unread data would give it an error
 * instead.
 */
static void connection_wait_read(int fd)
{
	int unread;

	for (int ms = 0; ms < LEAVE_MS && !ioctl(fd, SIOCOUTQ, &unread) && unread; ms += STEP_MS)
		poll(NULL, 0, STEP_MS);
}

static void order_execute(const struct porter *p, int taken_fd)
{
	struct porter_order o;
	int fds[FDS_AT_ONCE];
	size_t nr;
	ssize_t n = packet_take(p->fd, &o, sizeof(o), fds, &nr, MSG_DONTWAIT);

	close(taken_fd);
	if (n != sizeof(o))
		return;
	if (o.task == PORTER_RECEIVE && nr == 1)
		packet_forward(p->fd, &o, fds[0]);
	if (o.task != PORTER_CLOSE || nr != 1)
		return;
	closing_wait_for(p, o.id);
	if (p->nr < MANY_CHILDREN)
		connection_wait_read(fds[0]);
}

static void porter_reap(struct porter *p)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (size_t i = 0; i < CHILDREN; i++)
			if (p->children[i].pid == pid) {
				p->children[i].pid = 0;
				p->nr--;
			}
}

/*
 * Returns NULL if there are too many children, or too many for that user, whose descriptors block
 * them.
 */
static struct porter_child *child_place(struct porter *p, const struct porter_order *o)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct porter_child *place = NULL;
	size_t nr = 0, nr_hanging = 0;

	for (size_t i = 0; i < CHILDREN; i++) {
		struct porter_child *c = &p->children[i];

		if (!c->pid)
			place = c;
		else if (o->task == PORTER_RECEIVE && c->uid == o->uid) {
			nr++;
			nr_hanging += now_ns - c->began_ns > HANGING_NS;
		}
	}
	return nr >= CHILDREN_OF_USER || nr_hanging >= HANGING_OF_USER ? NULL : place;
}

/* Waits until the child has received the order, or has exited. */
static void child_wait_for(int taken_fd)
{
	char byte;

	while (read(taken_fd, &byte, 1) < 0 && errno == EINTR)
		;
	close(taken_fd);
}

static void porter_fork(struct porter *p, const struct porter_order *o, struct porter_child *place)
{
	int taken[2];
	pid_t pid;

	if (pipe2(taken, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		close(taken[0]);
		order_execute(p, taken[1]);
		_exit(0); /* closes the descriptors */
	}
	close(taken[1]);
	child_wait_for(taken[0]);
	if (pid < 0)
		return;
	*place = (struct porter_child){ pid, o->task == PORTER_RECEIVE ? o->uid : NO_USER,
					clock_ns(CLOCK_MONOTONIC) };
	p->nr++;
}

/* The agent still has the connection: dropping it here does not close it. */
static void order_refuse(struct porter *p, struct porter_order *o)
{
	struct porter_answer answer = { .id = o->id, .err = -EDQUOT };

	if (recv(p->fd, o, sizeof(*o), MSG_DONTWAIT) > 0)
		packet_pass(p->fd, &answer, sizeof(answer), NULL, 0);
}

static void order_take(struct porter *p)
{
	struct porter_order o;
	struct porter_child *place;
	ssize_t n = recv(p->fd, &o, sizeof(o), MSG_PEEK | MSG_DONTWAIT);

	if (n == 0)
		_exit(0); /* the agent has ended */
	if (n != sizeof(o))
		return;
	porter_reap(p);
	place = child_place(p, &o);
	if (place)
		porter_fork(p, &o, place);
	else if (o.task == PORTER_RECEIVE)
		order_refuse(p, &o);
	else
		poll(NULL, 0, LOOK_MS);
}

static void porter_run(const struct porter_link *link)
{
	static struct porter p;
	struct pollfd orders = { .fd = link->fd, .events = POLLIN };

	p.fd = link->fd;
	p.closed_id = link->closed_id;
	for (;;) {
		if (poll(&orders, 1, p.nr ? LOOK_MS : -1) > 0)
			order_take(&p);
		porter_reap(&p);
	}
}

/* Drops the rights and descriptors that the agent was started with. */
static void porter_drop_rights(int fd)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };

	if (fd > 3)
		syscall(SYS_close_range, 3U, (unsigned)fd - 1, 0);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0);
	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	privilege_bound(0);
	if (privilege_leave_root(0))
		_exit(1);
	seccomp_install(SECCOMP_PORTER);
}

int porter_start(struct porter_link *link)
{
	const size_t bytes = sizeof(*link->closed_id);
	int ends[2];
	pid_t pid;

	*link = (struct porter_link){ .fd = -1 };
	link->closed_id =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (link->closed_id == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	link->fd = ends[pid ? 0 : 1];
	if (!pid) {
		porter_drop_rights(link->fd);
		porter_run(link);
	}
	close(ends[1]);
	return pid > 0 ? 0 : -EAGAIN;
}

#define ANSWERS_AT_ONCE 64

static bool order_send(int porter_fd, const struct porter_order *o, int fd)
{
	struct iovec at = { (void *)o, sizeof(*o) };
	struct msghdr h = { .msg_iov = &at, .msg_iovlen = 1 };
	union passed_fds r = { 0 };

	fds_put(&h, &r, &fd, 1);
	return sendmsg(porter_fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*o);
}

/* The porter closes the socket last, which also drops what is in its queue. */
static bool door_hand_over(void *context, int fd)
{
	struct agent *a = context;
	const struct porter_order o = { .task = PORTER_CLOSE, .id = ++a->last_order_id };

	if (!order_send(a->porter.fd, &o, fd))
		return false;
	close(fd);
	*a->porter.closed_id = o.id;
	return true;
}

static struct peer *peer_find_by_order(struct agent *a, uint64_t id)
{
	struct peer *p = a->peers;

	while (p && p->order_id != id)
		p = p->next;
	return p;
}

static void door_take_answer(struct agent *a, struct porter_answer *answer, int *fds, size_t nr)
{
	struct peer *p = peer_find_by_order(a, answer->id);

	if (!p) { /* dropped meanwhile */
		for (size_t i = 0; i < nr; i++)
			descriptor_discard(&a->loop.discard, fds[i]);
		return;
	}
	p->order_id = 0;
	memcpy(p->message.fds, fds, nr * sizeof(*fds));
	p->message.nr_fds = nr;
	p->answered(p, loop_add(&a->loop, &p->source, EPOLLIN) ? -ENOMEM : answer->err,
		    &answer->packet);
}

/* Returns false if there is no answer. */
static bool door_receive_answer(struct agent *a)
{
	struct porter_answer answer;
	struct iovec at = { &answer, sizeof(answer) };
	union passed_fds r = { 0 };
	struct msghdr h = { .msg_iov = &at,
			    .msg_iovlen = 1,
			    .msg_control = r.room,
			    .msg_controllen = CMSG_SPACE(MESSAGE_FDS * sizeof(int)) };
	ssize_t n = recvmsg(a->porter.fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fds[FDS_AT_ONCE];
	size_t nr;

	if (n == sizeof(answer)) {
		nr = fds_read(&h, fds);
		if (h.msg_flags & MSG_CTRUNC)
			answer.err = -EMFILE;
		door_take_answer(a, &answer, fds, nr);
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	log_error("the porter process, which receives messages for the agent, has ended; stopping "
		  "the agent");
	a->stops = true;
	return false;
}

static void door_ready(void *context, uint32_t events)
{
	(void)events;
	for (int i = 0; i < ANSWERS_AT_ONCE && door_receive_answer(context); i++)
		;
}

int door_open(struct agent *a)
{
	a->sources[AGENT_PORTER] = (struct loop_source){ a->porter.fd, door_ready, a };
	a->loop.discard.hand_over = door_hand_over;
	a->loop.discard.context = a;
	return loop_add(&a->loop, &a->sources[AGENT_PORTER], EPOLLIN);
}

void door_close(struct agent *a)
{
	a->loop.discard.hand_over = NULL;
}

void door_order_packet(struct peer *p)
{
	struct agent *a = p->agent;
	struct porter_order o = { .task = PORTER_RECEIVE, .uid = p->uid, .id = ++a->last_order_id };

	if (!p->has_unsent_order)
		loop_remove(&a->loop, &p->source);
	p->has_unsent_order = !order_send(a->porter.fd, &o, p->source.fd);
	if (!p->has_unsent_order)
		p->order_id = o.id;
}

void door_attend(struct agent *a)
{
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->has_unsent_order && p->state == PEER_NEW)
			door_order_packet(p);
}

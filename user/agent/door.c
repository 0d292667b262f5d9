// SPDX-License-Identifier: BSD-2-Clause
#include "agent/door.h"

#include "agent/agent.h"
#include "agent/porter.h"
#include "base/fd_passing.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWERS_AT_ONCE 64

static bool order_send(int porter_fd, const struct porter_order *o, int fd)
{
	struct iovec at = { (void *)o, sizeof(*o) };
	struct msghdr h = { .msg_iov = &at, .msg_iovlen = 1 };
	union passed_fds r = { 0 };

	fds_put(&h, &r, &fd, 1);
	return sendmsg(porter_fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*o);
}

/* The porter closes it last: what is in its queue is dropped by then. */
static bool door_hand_over(void *context, int fd)
{
	struct agent *a = context;
	const struct porter_order o = { .task = PORTER_CLOSE, .id = ++a->last_asked };

	if (!order_send(a->porter.fd, &o, fd))
		return false;
	close(fd);
	*a->porter.closed_id = o.id;
	return true;
}

static struct peer *peer_that_asked(struct agent *a, uint64_t id)
{
	struct peer *p = a->peers;

	while (p && p->asked != id)
		p = p->next;
	return p;
}

static void door_take_answer(struct agent *a, struct porter_answer *answer, int *fds, size_t nr)
{
	struct peer *p = peer_that_asked(a, answer->id);

	if (!p) { /* it was dropped meanwhile */
		for (size_t i = 0; i < nr; i++)
			descriptor_discard(&a->loop.discard, fds[i]);
		return;
	}
	p->asked = 0;
	memcpy(p->message.fds, fds, nr * sizeof(*fds));
	p->message.nr_fds = nr;
	if (loop_add(&a->loop, &p->source, EPOLLIN))
		peer_drop(p, "out of memory");
	else if (answer->err == -EDQUOT)
		peer_drop(p,
			  "what this user has sent before is not closed: its close does not end");
	else
		peer_take_packet(p, answer->err, &answer->packet);
}

/* False: there is none. */
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
	log_error("the porter, which receives for the agent, has ended: the agent ends, too");
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

void door_ask(struct peer *p)
{
	struct agent *a = p->agent;
	struct porter_order o = { .task = PORTER_RECEIVE, .uid = p->uid, .id = ++a->last_asked };

	if (!p->wants_porter)
		loop_remove(&a->loop, &p->source);
	p->wants_porter = !order_send(a->porter.fd, &o, p->source.fd);
	if (!p->wants_porter)
		p->asked = o.id;
}

void door_attend(struct agent *a)
{
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->wants_porter && p->state == PEER_NEW)
			door_ask(p);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "base/loop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define READY_AT_ONCE 16
#define AGAIN_MS 10 /* interval of attempts to hand over a socket */

int loop_init(struct loop *l)
{
	l->fd = epoll_create1(EPOLL_CLOEXEC);
	return l->fd < 0 ? -errno : 0;
}

void loop_done(struct loop *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	discards_done(&l->discard);
}

static int loop_control(struct loop *l, int operation, struct loop_source *source, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = source };

	return epoll_ctl(l->fd, operation, source->fd, &e) ? -errno : 0;
}

int loop_add(struct loop *l, struct loop_source *source, uint32_t events)
{
	return loop_control(l, EPOLL_CTL_ADD, source, events);
}

int loop_change(struct loop *l, struct loop_source *source, uint32_t events)
{
	return loop_control(l, EPOLL_CTL_MOD, source, events);
}

void loop_remove(struct loop *l, struct loop_source *source)
{
	loop_control(l, EPOLL_CTL_DEL, source, 0);
}

int loop_wait(struct loop *l, int wait_ms)
{
	struct epoll_event ready[READY_AT_ONCE];
	int n;

	discards_retry(&l->discard);
	if (l->discard.nr && l->discard.hand_over && (wait_ms < 0 || wait_ms > AGAIN_MS))
		wait_ms = AGAIN_MS;
	n = epoll_wait(l->fd, ready, READY_AT_ONCE, wait_ms);

	for (int i = 0; i < n; i++) {
		const struct loop_source *source = ready[i].data.ptr;

		source->ready(source->context, ready[i].events);
	}
	return n < 0 && errno != EINTR ? -errno : 0;
}

int signals_take(bool takes_quit)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (takes_quit)
		sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void signals_reset(void)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

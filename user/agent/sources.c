// SPDX-License-Identifier: BSD-2-Clause
/* What wakes the agent: clients that come, records of the kernel, its timer, signals. */
#include "agent/sources.h"

#include "agent/agent_listen.h"
#include "agent/places.h"
#include "base/signals.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ACCEPTS_AT_ONCE 64

static void handle_listening(void *context, uint32_t events)
{
	struct agent *a = context;
	int fd;

	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		fd = accept4(a->sources[AGENT_LISTENING].fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) { /* without room it would be ready for ever */
			a->has_no_room = (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
					  errno == ENOBUFS) &&
					 !places_make_one(a);
			return;
		}
		peer_accept(a, fd);
	}
}

/* The owner ends the agent by ending, too. */
static void handle_owner(void *context, uint32_t events)
{
	struct agent *a = context;
	struct control c;
	int got = message_receive(&a->clients, a->sources[AGENT_LISTENING].fd, &c);

	(void)events;
	if (got == -EAGAIN)
		return;
	if (got != 1 || c.type != CONTROL_CLIENT || a->clients.nr_fds != 1) {
		a->stops = true;
		return;
	}
	peer_accept(a, a->clients.fds[0]);
	a->clients.fds[0] = -1;
	message_done(&a->clients);
}

static void handle_node_records(void *context, uint32_t events)
{
	(void)events;
	books_consume(&((struct agent *)context)->books);
}

static void handle_timer(void *context, uint32_t events)
{
	struct agent *a = context;
	uint64_t passed;

	(void)events; /* agent_sample() looks at the clock */
	if (read(a->sources[AGENT_TIMER].fd, &passed, sizeof(passed)) < 0)
		return;
}

static void handle_signals(void *context, uint32_t events)
{
	struct agent *a = context;
	struct signalfd_siginfo si;

	(void)events;
	while (read(a->sources[AGENT_SIGNALS].fd, &si, sizeof(si)) == sizeof(si)) {
		a->stops |= si.ssi_signo != SIGHUP;
		a->reloads |= si.ssi_signo == SIGHUP && !a->is_private;
	}
}

static int agent_source_add(struct agent *a, enum agent_source id, int fd,
			    void (*ready)(void *context, uint32_t events))
{
	a->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = a };
	return fd < 0 ? -errno : loop_add(&a->loop, &a->sources[id], EPOLLIN);
}

static int agent_open_listening(struct agent *a, const struct agent_options *o, char *why,
				size_t size)
{
	int fd = a->is_private ? o->clients_fd : agent_listen(a->config.socket, why, size);

	if (fd < 0)
		return fd;
	return agent_source_add(a, AGENT_LISTENING, fd,
				a->is_private ? handle_owner : handle_listening);
}

int agent_sources_open(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	int err = agent_open_listening(a, o, why, size);

	if (err)
		return err;
	err = agent_source_add(a, AGENT_RECORDS, dup(tracker_events_fd(&a->books.tracker)),
			       handle_node_records);
	if (!err)
		err = agent_source_add(a, AGENT_TIMER,
				       timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				       handle_timer);
	if (!err)
		err = agent_source_add(a, AGENT_SIGNALS, signals_take(false), handle_signals);
	return err;
}

void agent_sources_close(struct agent *a)
{
	for (int i = 0; i < NR_AGENT_SOURCES; i++)
		if (a->sources[i].fd >= 0 && i != AGENT_LISTENING) /* it may not wait for those
								    * in its queue */
			close(a->sources[i].fd);
	loop_done(&a->loop);
}

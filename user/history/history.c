// SPDX-License-Identifier: BSD-2-Clause
#include "history/history.h"

#include "base/control.h"
#include "history/historian.h"
#include "history/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 8000

/* What the agent was started with, as a socket of systemd, is not for the historian. */
static void descriptors_close_but(int a, int b)
{
	const unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

static void historian_begin(const struct history_options *o, const struct place *p, int stream_fd,
			    int control_fd)
{
	int err;

	descriptors_close_but(stream_fd, control_fd);
	setsid(); /* what the terminal sends is for the agent */
	err = place_become_owner(p);
	if (err)
		control_send(control_fd, CONTROL_FAILED, err, 0, strerror(-err));
	else if (!control_send(control_fd, CONTROL_READY, 0, 0, NULL))
		historian_run(o, stream_fd, control_fd);
	_exit(err ? 1 : 0);
}

static int answer_wait(int control_fd, char *why, size_t size)
{
	struct control c;
	int got = control_receive(control_fd, &c);

	if (got == 1 && c.type == CONTROL_READY)
		return 0;
	if (got == 1)
		snprintf(why, size, "the historian cannot give up its rights: %s", c.text);
	else
		snprintf(why, size, "the historian did not start");
	return got == 1 && c.value < 0 ? c.value : -ECHILD;
}

int history_start(const struct history_options *o, struct history *h, char *why, size_t size)
{
	int stream[2] = { -1, -1 }, control[2] = { -1, -1 }, err;
	struct place place;
	pid_t pid = 0;

	*h = (struct history){ -1, -1 };
	err = place_prepare(o->store, &place, why, size);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) || (pid = fork()) < 0) {
		err = -errno;
		snprintf(why, size, "cannot start the historian: %s", strerror(-err));
	}
	if (!err && !pid)
		historian_begin(o, &place, stream[1], control[1]);
	*h = (struct history){ stream[0], control[0] };
	for (int i = 0; i < 2; i++)
		if ((i ? control : stream)[1] >= 0)
			close((i ? control : stream)[1]);
	if (!err)
		err = answer_wait(h->control_fd, why, size);
	if (!err && fcntl(h->control_fd, F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err)
		history_end(h);
	return err;
}

void history_end(struct history *h)
{
	struct pollfd p = { .fd = h->control_fd };

	if (h->stream_fd >= 0)
		close(h->stream_fd);
	if (h->stream_fd >= 0 && h->control_fd >= 0)
		poll(&p, 1, PATIENCE_MS); /* until it has ended, too */
	if (h->control_fd >= 0)
		close(h->control_fd);
	*h = (struct history){ -1, -1 };
}

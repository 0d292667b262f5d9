// SPDX-License-Identifier: BSD-2-Clause
#include "base/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * How long a role waits for others: without limit while the launcher runs; after its end for 10 s
 * without progress (recorder for a reader), 12 s (collector for the recorder) or 20 s (recorder for
 * lines). No write(2) blocks. An inherited pipe or terminal is reopened, because O_NONBLOCK on a
 * description shared with the command would affect the command.
 */

/* Rounds up: a fraction of a millisecond must not become a busy loop. */
static int deadline_rest_ms(uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns >= until_ns)
		return 0;
	return (int)((until_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

int patience_wait(struct patience *p, int fd, short events)
{
	bool is_running = !p || p->watched_fd < 0;
	uint64_t until_ns = p && is_running ? clock_ns(CLOCK_MONOTONIC) + p->limit_ns : 0;
	/* no events requested: poll() always reports a hangup */
	struct pollfd f[2] = { { .fd = fd, .events = events }, { .fd = -1 } };

	if (!is_running)
		f[1] = (struct pollfd){ .fd = p->watched_fd, .events = POLLRDHUP };
	for (;;) {
		int wait_ms = !until_ns ? -1 : p->is_spent ? 0 : deadline_rest_ms(until_ns);
		int n = poll(f, 2, wait_ms);

		if (n > 0 && f[0].revents)
			return 0;
		if (n > 0) {
			f[1].fd = -1;
			until_ns = clock_ns(CLOCK_MONOTONIC) + p->limit_ns;
		}
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n && !wait_ms) {
			p->is_spent = true;
			return -ETIMEDOUT;
		}
	}
}

/* Returns how much to write at once: to a blocking descriptor no more than a ready pipe takes. */
static size_t patience_piece_bytes(const struct patience *p, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (!p || flags < 0 || flags & O_NONBLOCK || fstat(fd, &st) || S_ISREG(st.st_mode))
		return SIZE_MAX;
	return PIPE_BUF;
}

int patience_write(struct patience *p, int fd, const char *text, size_t n, size_t *done)
{
	size_t piece = patience_piece_bytes(p, fd);
	int err = 0;

	for (*done = 0; !err && *done < n;) {
		size_t left = n - *done;
		ssize_t w;

		if (piece < SIZE_MAX)
			err = patience_wait(p, fd, POLLOUT);
		if (err)
			break;
		w = write(fd, text + *done, left < piece ? left : piece);
		if (w >= 0)
			*done += (size_t)w;
		else if (errno == EAGAIN)
			err = patience_wait(p, fd, POLLOUT);
		else if (errno != EINTR)
			err = -errno;
	}
	return err;
}

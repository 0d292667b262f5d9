// SPDX-License-Identifier: BSD-2-Clause
#include "serve/follower.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define FIRST_WAIT_NS (100 * NSEC_PER_MSEC)
#define LAST_WAIT_NS (10 * NSEC_PER_SEC)
#define TICK_NS NSEC_PER_SEC

static uint64_t follower_now(void)
{
	return clock_ns(CLOCK_BOOTTIME); /* what was kept while the machine slept is old, too */
}

static void follower_take(void *context, const char *text, size_t length)
{
	struct follower *f = context;

	if (text)
		intake_take(&f->intake, text, length, follower_now());
	else
		intake_refuse(&f->intake);
	f->wait_ns = 0; /* it does speak */
}

/* Each time that it fails, the wait is twice as long. */
static void follower_put_off(struct follower *f)
{
	f->wait_ns = f->wait_ns ? f->wait_ns * 2 : FIRST_WAIT_NS;
	if (f->wait_ns > LAST_WAIT_NS)
		f->wait_ns = LAST_WAIT_NS;
	f->retry_ns = follower_now() + f->wait_ns;
}

static void follower_set_up(struct follower *f, bool is_up)
{
	struct board *b = f->intake.board;

	pthread_mutex_lock(&b->lock);
	if (is_up)
		board_connect(b, follower_now());
	else
		board_disconnect(b, follower_now());
	pthread_mutex_unlock(&b->lock);
}

int follower_open(struct follower *f)
{
	char why[256];

	f->fd = stream_open(f->options, why, sizeof(why));
	if (f->fd < 0) {
		int err = f->fd;

		f->fd = -1;
		if (!stream_is_socket(f->options)) {
			log_error("%s", why);
			return err;
		}
		if (!f->wait_ns)
			log_warn("%s; trying again", why);
		follower_put_off(f);
		return 0;
	}
	log_info("the stream %s is open", f->options->stream);
	line_stream_reset(&f->lines);
	follower_set_up(f, true);
	return 0;
}

static void follower_close(struct follower *f, int err)
{
	if (err == -ENODATA)
		log_warn("the stream %s has ended", f->options->stream);
	else
		log_warn("cannot read the stream %s: %s", f->options->stream, strerror(-err));
	close(f->fd);
	f->fd = -1;
	follower_set_up(f, false);
	follower_put_off(f);
}

static int follower_wait_ms(const struct follower *f, uint64_t now_ns, uint64_t tick_ns)
{
	uint64_t until_ns = tick_ns;

	if (f->fd < 0 && stream_is_socket(f->options) && f->retry_ns < until_ns)
		until_ns = f->retry_ns;
	return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

static void follower_tick(struct follower *f)
{
	pthread_mutex_lock(&f->intake.board->lock);
	board_tick(f->intake.board, follower_now());
	pthread_mutex_unlock(&f->intake.board->lock);
	f->tick(f->context);
}

int follower_run(struct follower *f)
{
	uint64_t tick_ns = follower_now() + TICK_NS;

	for (;;) {
		struct pollfd fds[] = { { f->signals, POLLIN, 0 }, { f->fd, POLLIN, 0 } };
		int err = 0;

		if (poll(fds, 2, follower_wait_ms(f, follower_now(), tick_ns)) < 0 &&
		    errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		if (fds[1].revents)
			err = line_stream_read(&f->lines, f->fd, follower_take, f);
		if (err)
			follower_close(f, err);
		if (follower_now() >= tick_ns) {
			follower_tick(f);
			tick_ns = follower_now() + TICK_NS;
		}
		if (f->fd < 0 && stream_is_socket(f->options) && follower_now() >= f->retry_ns)
			follower_open(f);
	}
}

void follower_done(struct follower *f)
{
	if (f->fd >= 0)
		close(f->fd);
	intake_done(&f->intake);
	line_stream_done(&f->lines);
}

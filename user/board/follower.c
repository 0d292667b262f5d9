// SPDX-License-Identifier: BSD-2-Clause
#include "board/follower.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/seccomp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_WAIT_NS (100 * NSEC_PER_MSEC)
#define LAST_WAIT_NS (10 * NSEC_PER_SEC)
#define TICK_NS NSEC_PER_SEC
#define NODE_LATEST_NS (10 * NSEC_PER_SEC)

uint64_t follower_now(void)
{
	return clock_ns(CLOCK_BOOTTIME); /* includes suspended time, so that old values expire */
}

static void follower_take(void *context, const char *text, size_t length)
{
	struct follower *f = context;

	if (text)
		intake_apply_line(&f->intake, text, length, follower_now());
	else
		intake_refuse(&f->intake);
	f->wait_ns = 0; /* the stream works: the next delay is short again */
}

/* Doubles the delay at each failure. */
static void follower_delay_retry(struct follower *f)
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

	f->fd = stream_open(f->stream, why, sizeof(why));
	if (f->fd < 0) {
		int err = f->fd;

		f->fd = -1;
		if (!stream_is_socket(f->stream)) {
			log_error("%s", why);
			return err;
		}
		if (!f->wait_ns)
			log_warn("%s; retrying", why);
		follower_delay_retry(f);
		return 0;
	}
	line_stream_reset(&f->lines);
	follower_set_up(f, true);
	log_info("opened the stream %s", f->stream); /* jobs that begin now are new */
	f->said_rights = false;
	return 0;
}

static void follower_close(struct follower *f, int err)
{
	if (err == -ENODATA)
		log_warn("the stream %s has ended", f->stream);
	else
		log_warn("cannot read the stream %s: %s", f->stream, strerror(-err));
	close(f->fd);
	f->fd = -1;
	follower_set_up(f, false);
	follower_delay_retry(f);
}

static int follower_wait_ms(const struct follower *f, uint64_t now_ns, uint64_t tick_ns)
{
	uint64_t until_ns = tick_ns;

	if (f->fd < 0 && stream_is_socket(f->stream) && f->retry_ns < until_ns)
		until_ns = f->retry_ns;
	return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

/* Jobs that begin after the clock was set back are new as well. Called with the lock. */
static void follower_note_clock(struct follower *f)
{
	const int64_t ns = (int64_t)(clock_ns(CLOCK_REALTIME) - follower_now());

	if (f->intake.board->began_epoch_ns && f->clock_ns)
		f->intake.board->began_epoch_ns += (uint64_t)(ns - f->clock_ns);
	f->clock_ns = ns;
}

static void follower_tick(struct follower *f)
{
	struct board *b = f->intake.board;
	bool lacks_node;

	pthread_mutex_lock(&b->lock);
	follower_note_clock(f);
	board_tick(b, follower_now());
	lacks_node =
		b->is_open && !b->node.runs && follower_now() - b->connected_ns > NODE_LATEST_NS;
	pthread_mutex_unlock(&b->lock);
	if (lacks_node && !f->said_rights) {
		log_warn("the stream %s has no totals of the node: an agent shows them, and the "
			 "jobs of all users, to members of its admin_group only",
			 f->stream);
		f->said_rights = true;
	}
	f->tick(f->context);
}

static int follower_wait(struct follower *f, struct pollfd *fds, unsigned nr, int wait_ms)
{
	if (f->wait)
		return f->wait(f->context, fds, nr, wait_ms);
	return poll(fds, nr, wait_ms) < 0 && errno != EINTR ? -errno : 0;
}

int follower_run(struct follower *f)
{
	uint64_t tick_ns = follower_now() + TICK_NS;

	for (;;) {
		struct pollfd fds[] = { { f->signals, POLLIN, 0 }, { f->fd, POLLIN, 0 } };
		int err = 0;

		err = follower_wait(f, fds, 2, follower_wait_ms(f, follower_now(), tick_ns));
		if (err)
			return err;
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
		if (f->fd < 0 && stream_is_socket(f->stream) && follower_now() >= f->retry_ns)
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

int service_choose_user(const char *program, const char *name, struct user *u)
{
	*u->name = '\0';
	if (!*name && !geteuid()) {
		log_error("%s does not run as root; name the user to run as with --user, such as "
			  "%s, which the service uses",
			  program, program);
		return -EPERM;
	}
	if (*name && geteuid()) {
		log_error("only root can use --user");
		return -EPERM;
	}
	if (!*name)
		return 0;
	if (user_find(name, u)) {
		log_error("there is no user '%s'", name);
		return -ENOENT;
	}
	if (!u->uid) {
		log_error("--user does not accept '%s': it expects an ordinary user", name);
		return -EPERM;
	}
	return 0;
}

int service_drop_rights(const struct user *u)
{
	int err = 0;

	privilege_bound(0);
	if (*u->name)
		err = user_become(u);
	if (err) {
		log_error("cannot become the user %s: %s", u->name, strerror(-err));
		return err;
	}
	err = privilege_keep(0);
	if (err) {
		log_error("cannot drop capabilities: %s", strerror(-err));
		return err;
	}
	return 0;
}

void service_restrict_calls(unsigned role)
{
	int err = seccomp_install(role);

	if (err && err != -ENOSYS)
		log_warn("cannot install the system call filter: %s", strerror(-err));
}

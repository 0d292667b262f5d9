// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-exporter: exports what the agent of the node reports about its jobs to Prometheus. It has
 * no special rights and reads the agent's stream like any client.
 */
#include "base/exit_status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "base/loop.h"
#include "exporter/exposition.h"
#include "exporter/exporter_http.h"
#include "exporter/exporter_stream.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct follower {
	const struct exporter_options *options; /* not owned */
	struct intake intake;                   /* owned */
	struct line_stream lines;               /* owned */
	int fd;                                 /* owned; -1 while the stream is closed */
	int signals;                            /* a signalfd; not owned */
	uint64_t retry_ns, wait_ns;             /* next attempt to open it; delay before that */
	bool said_rights;                       /* warned that the agent shows too little */
	void (*tick)(void *context);            /* called about once a second */
	void *context;
};

/* Follows the agent's stream until a signal ends the program, and reopens it when it ends. */

#define FIRST_WAIT_NS (100 * NSEC_PER_MSEC)
#define LAST_WAIT_NS (10 * NSEC_PER_SEC)
#define TICK_NS NSEC_PER_SEC
#define NODE_LATEST_NS (10 * NSEC_PER_SEC)

static uint64_t follower_now(void)
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

/*
 * Opens the stream. Returns 0 also if it cannot be opened yet, or a negative errno if it never can
 * be.
 */
static int follower_open(struct follower *f)
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
			log_warn("%s; retrying", why);
		follower_delay_retry(f);
		return 0;
	}
	log_info("opened the stream %s", f->options->stream);
	line_stream_reset(&f->lines);
	follower_set_up(f, true);
	f->said_rights = false;
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
	follower_delay_retry(f);
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
	struct board *b = f->intake.board;
	bool lacks_node;

	pthread_mutex_lock(&b->lock);
	board_tick(b, follower_now());
	lacks_node =
		b->is_open && !b->node.runs && follower_now() - b->connected_ns > NODE_LATEST_NS;
	pthread_mutex_unlock(&b->lock);
	if (lacks_node && !f->said_rights) {
		log_warn("the stream %s has no totals of the node: an agent shows them, and the "
			 "jobs of all users, to members of its admin_group only",
			 f->options->stream);
		f->said_rights = true;
	}
	f->tick(f->context);
}

/* Runs until a signal comes. Returns 0 or a negative errno. */
static int follower_run(struct follower *f)
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

static void follower_done(struct follower *f)
{
	if (f->fd >= 0)
		close(f->fd);
	intake_done(&f->intake);
	line_stream_done(&f->lines);
}

static struct board board; /* large */
static struct http http;   /* large */

static int metrics_print(void)
{
	struct buffer t = { 0 };

	exposition_list(&t);
	if (!t.failed)
		fwrite(t.text, 1, t.used, stdout);
	buffer_done(&t);
	return t.failed || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * Finds the user to become. Returns 0 or a negative errno after a message. Root is refused: without
 * root's rights, which the program drops, it would see no jobs when it opens the stream again.
 */
static int user_choose(const struct exporter_options *o, struct user *u)
{
	if (!*o->user && !geteuid()) {
		log_error("bpfmon-exporter does not run as root; name the user to run as with "
			  "--user, such as bpfmon-exporter, which the service uses");
		return -EPERM;
	}
	if (*o->user && geteuid()) {
		log_error("only root can use --user");
		return -EPERM;
	}
	if (!*o->user)
		return 0;
	if (user_find(o->user, u)) {
		log_error("there is no user '%s'", o->user);
		return -ENOENT;
	}
	if (!u->uid) {
		log_error("--user does not accept '%s': it expects an ordinary user", o->user);
		return -EPERM;
	}
	return 0;
}

/*
 * Becomes the user and drops all capabilities, once the port is open and the files have been read.
 */
static int rights_drop(const struct exporter_options *o, const struct user *u)
{
	int err = 0;

	privilege_bound(0);
	if (*o->user)
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

static void calls_restrict(void)
{
	int err = seccomp_install(SECCOMP_EXPORTER);

	if (err && err != -ENOSYS)
		log_warn("cannot install the system call filter: %s", strerror(-err));
}

static void exporter_tick(void *context)
{
	http_tick(context);
}

static int exporter_run(struct follower *f, struct http *h, const struct exporter_options *o,
			const struct user *u)
{
	char why[512];
	int err = http_open(h, &board, o, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	/* the first time with the rights that it has later */
	err = rights_drop(o, u);
	if (!err)
		err = follower_open(f);
	if (err)
		return err;
	calls_restrict();
	err = http_start(h);
	if (err) {
		log_error("cannot start the HTTP server%s",
			  h->key ? "; check that the certificate and the key match and are in PEM "
				   "format"
				 : "");
		return err;
	}
	err = follower_run(f);
	if (err)
		log_error("cannot wait for the stream: %s", strerror(-err));
	return err;
}

static int exporter_serve(const struct exporter_options *o)
{
	struct follower f = { .options = o,
			      .fd = -1,
			      .lines.most = STREAM_LINE_BYTES,
			      .tick = exporter_tick,
			      .context = &http };
	static struct user user; /* large */
	int err = user_choose(o, &user);

	if (err)
		return EXIT_FAILURE;

	http.door = DOOR_NONE;
	memory_init_jansson();
	/* these read files that are not accessible later */
	json_object_seed(0);
	tzset();
	board_init(&board, o->series, o->keep_ns);
	f.intake.board = &board;
	f.signals = signals_take(false);
	err = f.signals < 0 ? f.signals : exporter_run(&f, &http, o, &user);
	http_done(&http);
	follower_done(&f);
	board_done(&board);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct exporter_options o;

	memory_exit_on_failure(true);
	if (exporter_options_read(&o, argc, argv))
		return EXIT_USAGE;
	if (o.is_verbose)
		log_set_level(LOG_VERBOSE);
	if (o.shows_help)
		exporter_options_help();
	else if (o.shows_version)
		puts("bpfmon-exporter " BPFMON_VERSION);
	else if (o.shows_metrics)
		return metrics_print();
	else if (o.listen.bytes)
		return exporter_serve(&o);
	else
		log_warn("no address to listen on: 'listen' of [exporter] is empty; exiting");
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

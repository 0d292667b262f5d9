// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-serve, a program of its own: shows what the node's agent says about its jobs to Prometheus
 * and as a page. It has no rights: it reads the agent's stream as any client does.
 */
#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "base/signals.h"
#include "serve/exposition.h"
#include "serve/follower.h"
#include "serve/http.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2

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

/* No rights are needed once the port is open and the files have been read. */
static int rights_leave(void)
{
	int err;

	privilege_bound(0);
	err = privilege_leave_root(0);
	if (err) {
		log_error("cannot drop capabilities: %s", strerror(-err));
		return err;
	}
	err = seccomp_install(SECCOMP_SERVE);
	if (err && err != -ENOSYS)
		log_warn("no filter of system calls: %s", strerror(-err));
	return 0;
}

static void serve_tick(void *context)
{
	http_tick(context);
}

static int serve_run(struct follower *f, struct http *h, const struct serve_options *o)
{
	char why[512];
	int err = http_open(h, &board, o, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	/* the first time with the rights that it was started with */
	err = follower_open(f);
	if (!err)
		err = rights_leave();
	if (err)
		return err;
	err = http_start(h);
	if (err) {
		log_error("cannot start the HTTP server%s",
			  h->key ? ": are certificate and key a pair, in PEM?" : "");
		return err;
	}
	err = follower_run(f);
	if (err)
		log_error("cannot wait for the stream: %s", strerror(-err));
	return err;
}

static int serve_all(const struct serve_options *o)
{
	struct follower f = { .options = o,
			      .fd = -1,
			      .lines.most = STREAM_LINE_BYTES,
			      .tick = serve_tick,
			      .context = &http };
	int err;

	http.door = DOOR_NONE;
	memory_init_jansson();
	/* these read files, which later they may not */
	json_object_seed(0);
	tzset();
	board_init(&board, o->series, o->keep_ns);
	f.intake.board = &board;
	f.signals = signals_take(false);
	err = f.signals < 0 ? f.signals : serve_run(&f, &http, o);
	http_done(&http);
	follower_done(&f);
	board_done(&board);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct serve_options o;

	if (serve_options_read(&o, argc, argv))
		return EXIT_USAGE;
	if (o.is_verbose)
		log_set_level(LOG_VERBOSE);
	if (o.shows_help)
		serve_options_help();
	else if (o.shows_version)
		puts("bpfmon-serve " BPFMON_VERSION);
	else if (o.shows_metrics)
		return metrics_print();
	else if (o.listen.bytes)
		return serve_all(&o);
	else
		log_warn("there is no address to listen at: nothing to do");
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-exporter: exports what the agent of the node reports about its jobs to Prometheus. It has
 * no special rights and reads the agent's stream like any client.
 */
#include "base/exit_status.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/loop.h"
#include "base/seccomp.h"
#include "board/follower.h"
#include "exporter/exposition.h"
#include "exporter/exporter_http.h"
#include "version.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	err = service_drop_rights(u);
	if (!err)
		err = follower_open(f);
	if (err)
		return err;
	service_restrict_calls(SECCOMP_EXPORTER);
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
	struct follower f = { .stream = o->stream,
			      .fd = -1,
			      .lines.most = STREAM_LINE_BYTES,
			      .tick = exporter_tick,
			      .context = &http };
	static struct user user; /* large */
	int err = service_choose_user("bpfmon-exporter", o->user, &user);

	if (err)
		return EXIT_FAILURE;

	http.door = DOOR_NONE;
	memory_init_jansson();
	/* these read files that are not accessible later */
	json_object_seed(0);
	tzset();
	board_init(&board, &exposition_style, o->series, o->keep_ns);
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

// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-push: sends what the agent of the node reports about its jobs to a database that takes
 * line protocol, or to what takes OTLP. It has no special rights and reads the agent's stream like
 * any client.
 */
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/memory.h"
#include "base/seccomp.h"
#include "board/follower.h"
#include "push/by_hand.h"
#include "push/datagrams.h"
#include "push/missed.h"
#include "push/points.h"
#include "push/push_options.h"
#include "push/sender.h"
#include "version.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SYNC_NS (5 * NSEC_PER_SEC)
#define ROWS_BYTES (256 << 10) /* of rows that wait for the next tick; more are written at once */

struct push {
	const struct push_options *options; /* not owned */
	struct board board;
	struct board_style style;
	struct points points;
	struct spool spool;
	struct target target;
	struct sender sender;
	struct datagrams datagrams;
	struct push_counts counts;
	struct missed missed;
	uint64_t sample_ns, sync_ns; /* the next ones */
	uint64_t streams;            /* opened, when the history was last asked */
};

static struct push push; /* large */

/* Appends lines to the spool, in batches; a row may have two lines. */
static void lines_keep(struct push *p, enum spool_kind kind, const struct buffer *t)
{
	const size_t lines_each = kind == SPOOL_ROWS ? batch_row_lines(p->target.dialect) : 1;
	size_t lines;

	for (size_t at = 0, n; at < t->used; at += n) {
		n = batch_cut(t->text + at, t->used - at, BATCH_LINES * lines_each, &lines);
		if (lines % lines_each) /* cut by its length, within a row */
			n += batch_skip(t->text + at + n, t->used - at - n, 1), lines++;
		spool_append_text(&p->spool, kind, t->text + at, n, lines / lines_each);
	}
}

static void lines_give(struct push *p, enum spool_kind kind, const struct buffer *t)
{
	struct buffer chosen = { 0 };

	if (!*p->target.udp_host) {
		lines_keep(p, kind, t);
		return;
	}
	if (kind == SPOOL_ROWS)
		batch_choose(&chosen, t, p->target.dialect);
	datagrams_send(&p->datagrams, kind == SPOOL_ROWS ? &chosen : t,
		       kind == SPOOL_ROWS ? &p->counts.rows : &p->counts.samples,
		       kind == SPOOL_ROWS ? &p->counts.rows_dropped : &p->counts.samples_dropped);
	buffer_done(&chosen);
}

/* Rows are on the disk before anything else is done. */
static void rows_flush(struct push *p)
{
	if (!p->points.nr_rows)
		return;
	lines_give(p, SPOOL_ROWS, &p->points.rows);
	p->points.rows.used = 0;
	p->points.nr_rows = 0;
	spool_sync(&p->spool);
}

static void counts_update(struct push *p, uint64_t now_ns)
{
	const struct spool_queue *rows = &p->spool.queues[SPOOL_ROWS];
	const struct spool_queue *samples = &p->spool.queues[SPOOL_SAMPLES];

	if (*p->target.udp_host)
		return;
	p->counts.rows_dropped = rows->dropped;
	p->counts.samples_dropped = samples->dropped;
	p->counts.spool_damaged = rows->damaged + samples->damaged;
	p->counts.spool_used_bytes = rows->bytes + samples->bytes;
	p->counts.spool_max_bytes = p->spool.most;
	p->counts.waiting_seconds = sender_is_busy(&p->sender) ? now_ns - p->sender.accepted_ns : 0;
}

static void samples_take(struct push *p, uint64_t now_ns)
{
	const uint64_t epoch_ns = clock_ns(CLOCK_REALTIME);
	struct buffer t = { 0 };
	size_t lines;

	counts_update(p, now_ns);
	pthread_mutex_lock(&p->board.lock);
	board_prepare(&p->board, now_ns);
	points_put_board(&p->points, &t, &p->board, epoch_ns);
	board_count_scrape(&p->board);
	points_put_own(&p->points, &t, &p->board, &p->counts, epoch_ns);
	pthread_mutex_unlock(&p->board.lock);
	if (t.failed) {
		log_warn("out of memory: the samples of this interval are dropped");
		p->spool.queues[SPOOL_SAMPLES].dropped++;
	} else {
		lines = batch_count(t.text, t.used);
		lines_give(p, SPOOL_SAMPLES, &t);
		p->sender.sample_ns = p->options->config.catch_up
					      ? p->options->config.push_interval_ns / lines /
							p->options->config.catch_up
					      : 0;
	}
	buffer_done(&t);
}

/* Whenever the stream was opened, jobs may have ended before; it has all that end from then on. */
static void history_ask(struct push *p)
{
	const char *agent = stream_agent_socket(p->options->stream);

	if (!agent)
		return;
	if (p->board.counts.streams != p->streams)
		missed_begin(&p->missed);
	p->streams = p->board.counts.streams;
	missed_tick(&p->missed, agent, follower_now());
}

static void push_tick(void *context)
{
	struct push *p = context;
	const uint64_t now_ns = follower_now();

	rows_flush(p);
	history_ask(p);
	if (now_ns >= p->sample_ns) {
		samples_take(p, now_ns);
		p->sample_ns += p->options->config.push_interval_ns;
		if (p->sample_ns <= now_ns) /* the machine was suspended */
			p->sample_ns = now_ns + p->options->config.push_interval_ns;
	}
	if (now_ns >= p->sync_ns) {
		spool_sync(&p->spool);
		if (p->board.agent.is_up)
			missed_note(&p->missed, clock_ns(CLOCK_REALTIME));
		p->sync_ns = now_ns + SYNC_NS;
	}
}

/* Waits for the two descriptors of the follower, and for an answer from the history. */
static int push_wait(void *context, struct pollfd *fds, unsigned nr, int wait_ms)
{
	struct push *p = context;
	struct pollfd all[3] = { fds[0], fds[1], { p->missed.call.stream_fd, POLLIN, 0 } };
	int err;

	if (p->points.rows.used > ROWS_BYTES)
		rows_flush(p);
	err = sender_wait(&p->sender, all, nr + 1, wait_ms);
	memcpy(fds, all, nr * sizeof(*fds));
	if (!err && all[nr].revents)
		missed_read(&p->missed);
	return err;
}

static int push_open(struct push *p)
{
	const struct push_options *o = p->options;
	const uint64_t now_ns = follower_now(), interval_ns = o->config.push_interval_ns;
	const bool is_udp = *p->target.udp_host;
	int err = spool_open(&p->spool, is_udp ? NULL : o->config.spool_folder,
			     o->config.spool_bytes);

	datagrams_init(&p->datagrams, &p->target);
	missed_init(&p->missed, p->spool.folder);
	if (err) {
		log_error("cannot use the folder %s for what waits to be sent: %s",
			  o->config.spool_folder,
			  err == -EWOULDBLOCK ? "another bpfmon-push uses it" : strerror(-err));
		return err;
	}
	err = points_init(&p->points, o->instance, o->config.tags, o->config.metrics, interval_ns,
			  p->target.dialect);
	if (!err)
		err = sender_init(&p->sender, &p->target, &p->spool, &p->counts, now_ns);
	if (err) {
		log_error("cannot prepare requests: %s", strerror(-err));
		return err;
	}
	p->missed.end_job = points_end_job;
	p->missed.context = &p->points;
	p->style = (struct board_style){ .put_labels = p->target.dialect == DIALECT_OTLP
							       ? points_put_attributes
							       : points_put_labels,
					 .end_job = missed_end_job,
					 .context = &p->missed,
					 .least_ns = o->config.push_min_ns };
	board_init(&p->board, &p->style, (size_t)o->config.push_series, 0);
	/* nodes that start together do not send together: each has its place in the interval */
	p->sample_ns = now_ns + name_hash_stable(o->instance, strlen(o->instance), 0) % interval_ns;
	p->sender.samples_next_ns = p->sample_ns; /* the rate of new ones is not known before */
	p->sync_ns = now_ns + SYNC_NS;
	return 0;
}

static void push_done(struct push *p)
{
	rows_flush(p);
	sender_done(&p->sender);
	datagrams_done(&p->datagrams);
	missed_done(&p->missed);
	spool_done(&p->spool);
	points_done(&p->points);
	board_done(&p->board);
}

static int push_run(struct push *p, const struct user *u)
{
	struct follower f = { .stream = p->options->stream,
			      .fd = -1,
			      .lines.most = STREAM_LINE_BYTES,
			      .tick = push_tick,
			      .wait = push_wait,
			      .context = p };
	char why[CONFIG_WHY_BYTES];
	int err = target_read(&p->target, &p->options->config, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	f.signals = signals_take(false);
	err = f.signals < 0 ? f.signals : service_drop_rights(u);
	if (err)
		return err;
	err = push_open(p);
	f.intake.board = &p->board;
	if (!err)
		err = follower_open(&f);
	if (!err) {
		service_restrict_calls(SECCOMP_PUSH | SECCOMP_EXPORTER);
		err = follower_run(&f);
	}
	follower_done(&f);
	push_done(p);
	return err;
}

int main(int argc, char **argv)
{
	static struct push_options o;
	static struct user user; /* large */
	int err;

	memory_exit_on_failure(true);
	if (push_options_read(&o, argc, argv))
		return EXIT_USAGE;
	if (o.is_verbose)
		log_set_level(LOG_VERBOSE);
	if (o.shows_help || o.shows_version) {
		if (o.shows_help)
			push_options_help();
		else
			puts("bpfmon-push " BPFMON_VERSION);
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	if (o.sends_lines)
		return by_hand_run(&o) ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!*o.config.url) {
		log_warn("nowhere to send to: 'url' of [push] is empty; exiting");
		return EXIT_SUCCESS;
	}
	memory_exit_on_failure(false);
	memory_init_jansson();
	json_object_seed(0); /* these read files that are not accessible later */
	tzset();
	err = service_choose_user("bpfmon-push", o.user, &user);
	push.options = &o;
	return err || push_run(&push, &user) ? EXIT_FAILURE : EXIT_SUCCESS;
}

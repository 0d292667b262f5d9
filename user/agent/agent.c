// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent.h"

#include "agent/listen.h"
#include "agent/places.h"
#include "agent/rights.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/signals.h"
#include "base/task_delays.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define ACCEPTS_AT_ONCE 64
#define FULL_PAUSE_MS 100                    /* until another descriptor is tried for */
#define AHEAD_NS NSEC_PER_MSEC               /* samples that are due so soon share a drain */
#define PRIVATE_PACE_NS (10 * NSEC_PER_MSEC) /* in which its owner may start a run */
#define YOUNG_PARTS 8 /* of its interval a sample may be older than when it was due */

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

static uint64_t agent_next_due(const struct agent *a)
{
	uint64_t due_ns = a->due_ns;

	for (const struct peer *p = a->peers; p; p = p->next)
		if (p->state == PEER_RUNS && p->due_ns < due_ns)
			due_ns = p->due_ns;
	return due_ns;
}

static void timer_set(struct agent *a)
{
	uint64_t at_ns = agent_next_due(a);
	struct itimerspec at = { .it_value = { (time_t)(at_ns / NSEC_PER_SEC),
					       (long)(at_ns % NSEC_PER_SEC) } };

	timerfd_settime(a->sources[AGENT_TIMER].fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void node_sample(struct agent *a, uint64_t now_ns)
{
	uint64_t passed = (now_ns + AHEAD_NS - a->due_ns) / a->config.interval_ns + 1;

	a->counts.late_ticks += passed - 1;
	a->due_ns += passed * a->config.interval_ns;
	node_publish(&a->node);
	agent_report(a, NULL);
}

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * How old a drain may be that serves for what is due now, or so soon that it shares the drain: a
 * part of the shortest interval; 0 if a run has its sample of the last drain already.
 */
static uint64_t usable_age(const struct agent *a, uint64_t now_ns)
{
	uint64_t interval_ns = a->due_ns <= now_ns + AHEAD_NS ? a->config.interval_ns : UINT64_MAX;

	for (const struct peer *p = a->peers; p; p = p->next) {
		if (p->state != PEER_RUNS || p->due_ns > now_ns + AHEAD_NS)
			continue;
		if (job_has_sample(&p->tenant->job))
			return 0;
		interval_ns = min_ns(interval_ns, p->tenant->job.run->interval_ns);
	}
	return interval_ns / YOUNG_PARTS;
}

/*
 * One drain for all samples that are due. The last one serves, too, if it is so young that it
 * matters little: many clients, each due at other moments, do not cost many times as much.
 */
static void agent_sample(struct agent *a)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (agent_next_due(a) > now_ns)
		return;
	if (now_ns - a->books.tracker.began_ns > usable_age(a, now_ns))
		books_drain(&a->books, false);
	if (a->due_ns <= now_ns + AHEAD_NS)
		node_sample(a, now_ns);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->state == PEER_RUNS && p->due_ns <= now_ns + AHEAD_NS)
			peer_publish(p);
}

static void peers_attend(struct agent *a)
{
	struct peer *next;

	for (struct peer *p = a->peers; p; p = p->next)
		peer_attend(p);
	for (struct peer *p = a->peers; p; p = next) {
		next = p->next;
		if (p->state == PEER_GONE)
			peer_remove(p);
	}
}

static void agent_turn(struct agent *a)
{
	int wait_ms = watchdog_wait(&a->watchdog, -1);

	timer_set(a);
	for (struct peer *p = a->peers; p; p = p->next) {
		peer_prepare(p);
		wait_ms = peer_wait(p, wait_ms);
	}
	if (a->has_no_room && (wait_ms < 0 || wait_ms > FULL_PAUSE_MS))
		wait_ms = FULL_PAUSE_MS;
	loop_change(&a->loop, &a->sources[AGENT_LISTENING], a->has_no_room ? 0 : EPOLLIN);
	a->has_no_room = false;
	archive_prepare(&a->archive);
	loop_wait(&a->loop, wait_ms);
	agent_sample(a);
	peers_attend(a);
	node_settle(&a->node);
	watchdog_attend(&a->watchdog);
}

static void agent_reload(struct agent *a)
{
	char why[CONFIG_WHY_BYTES];

	a->reloads = false;
	notify_reloading();
	if (agent_configure_again(a, why, sizeof(why)))
		log_warn("the configuration stays as it was: %s", why);
	else
		log_info("the configuration has been read again");
	notify_send("READY=1");
}

static void agent_work(struct agent *a)
{
	watchdog_open(&a->watchdog);
	while (!a->stops) {
		agent_turn(a);
		if (a->reloads)
			agent_reload(a);
	}
	notify_send("STOPPING=1");
	loop_remove(&a->loop, &a->sources[AGENT_LISTENING]); /* or those that come would hold it */
	/* each gets its summary; a client that does not read is not waited for longer */
	for (struct peer *p = a->peers; p; p = p->next)
		peer_stop(p, "the agent was stopped");
	while (a->peers)
		agent_turn(a);
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

static int agent_open_sources(struct agent *a, const struct agent_options *o, char *why,
			      size_t size)
{
	int err = agent_open_listening(a, o, why, size);

	if (err)
		return err;
	err = agent_source_add(a, AGENT_RECORDS, dup(ring_buffer__epoll_fd(a->books.ring)),
			       handle_node_records);
	if (!err)
		err = agent_source_add(a, AGENT_TIMER,
				       timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				       handle_timer);
	if (!err)
		err = agent_source_add(a, AGENT_SIGNALS, signals_take(false), handle_signals);
	return err;
}

static bool agent_counts_blocks(const struct agent *a)
{
	bool fits = a->config.block_io && block_hierarchy_fits(&a->root);

	if (a->config.block_io && !fits)
		log_warn("block I/O is not counted: jobs are the cgroups of '%s', which has no io "
			 "controller; see hierarchy in the configuration",
			 a->root.cg.path);
	return fits;
}

static int agent_open_books(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	struct tracker_options options = {
		.want_memory = true,
		.can_seed = true,
		.can_move = true,
		.whole_node = true,
		.only_runs = a->is_private, /* jobs of the node are not asked of it */
		.cgroup = &a->root,
		/* a drain reads every bucket of maps that are chosen by it, and short runs have two
		 */
		.interval_ns = a->is_private ? PRIVATE_PACE_NS : a->config.interval_ns,
		.max_tasks = (unsigned)a->config.max_tasks,
		.inject_misses = o->inject_misses,
		.verbose = o->verbose,
	};
	int err = cgroups_find_root(a->config.hierarchy, &a->root, why, size);

	metric_set_all(&options.wanted);
	if (!a->config.net)
		metric_set_clear_source(&options.wanted, SOURCE_NET);
	if (!a->config.io_kinds)
		metric_set_clear_source(&options.wanted, SOURCE_KINDS);
	if (!task_delays_are_kept())
		metric_set_clear_source(&options.wanted, SOURCE_DELAY);
	if (!err && !agent_counts_blocks(a))
		metric_set_clear_source(&options.wanted, SOURCE_BLOCK);
	if (!err)
		err = books_open(&a->books, &options, &agent_reports, a, why, size);
	if (!err)
		err = node_open(&a->node, &a->books, &a->root, a->rules, &a->stream,
				a->config.interval_ns);
	if (err)
		return err;
	a->node.stalled_after_ns = a->config.stalled_after_ns; /* the node itself never is */
	err = tracker_seed_node(&a->books.tracker);
	books_consume(&a->books);
	books_drain(&a->books, true);
	node_start(&a->node);
	return err;
}

static int agent_configure(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	a->clients.limit = sizeof(((struct control *)0)->text);
	a->is_private = o->given != NULL;
	if (!a->is_private)
		return config_read(o->config, &a->config, why, size);
	a->config = *o->given;
	return 0;
}

static int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size)
{
	int err = agent_configure(a, o, why, size);

	if (!err)
		err = rules_open(&a->config, &a->rules, why, size);
	if (!err)
		err = loop_init(&a->loop);
	if (!err) /* before there are jobs: it gets all their lines */
		err = archive_open(a, o->history_stream_fd, o->history_control_fd);
	if (!err)
		err = agent_open_books(a, o, why, size);
	if (!err)
		err = agent_open_sources(a, o, why, size);
	if (!err)
		agent_drop_rights(tracker_may_drain(&a->books.tracker));
	a->started_ns = clock_ns(CLOCK_MONOTONIC);
	a->due_ns = a->started_ns + a->config.interval_ns;
	return err;
}

static void agent_close(struct agent *a)
{
	if (a->node.whole.job.books)
		node_end(&a->node);
	archive_close(&a->archive);
	node_done(&a->node);
	books_close(&a->books);
	node_stream_done(&a->stream);
	message_done(&a->clients);
	for (int i = 0; i < NR_AGENT_SOURCES; i++)
		if (a->sources[i].fd >= 0)
			close(a->sources[i].fd);
	loop_done(&a->loop);
	rules_close(a->rules);
	config_done(&a->config);
}

int agent_run(const struct agent_options *o)
{
	static struct agent a; /* one in a process */
	char why[CONFIG_WHY_BYTES] = "";
	int err;

	places_allow_descriptors();
	a.loop.fd = a.archive.stream.fd = -1;
	for (int i = 0; i < NR_AGENT_SOURCES; i++)
		a.sources[i].fd = -1;
	err = agent_open(&a, o, why, sizeof(why));
	if (err) {
		log_error("the agent cannot start: %s", *why ? why : strerror(-err));
	} else {
		log_info("the agent serves at %s", a.is_private ? "its owner" : a.config.socket);
		notify_send("READY=1");
		if (a.is_private)
			control_send(o->clients_fd, CONTROL_READY, 0, 0, NULL);
		agent_work(&a);
	}
	agent_close(&a);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent.h"

#include "agent/porter.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/notify.h"
#include "run/metric.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define FULL_PAUSE_MS 100      /* pause of accept() when out of descriptors */
#define AHEAD_NS NSEC_PER_MSEC /* samples due this soon share a drain */
#define YOUNG_PARTS 8          /* the last drain is reused up to an age of interval / YOUNG_PARTS */

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
	agent_describe_jobs(a);
	node_publish(&a->node);
	agent_report(a, NULL);
	handover_renew(a);
}

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the age up to which the last drain serves the samples that are due now or share their
 * drain: a part of the shortest interval, or 0 if a run already has a sample of that drain.
 */
static uint64_t usable_age(const struct agent *a, uint64_t now_ns)
{
	uint64_t interval_ns = a->due_ns <= now_ns + AHEAD_NS ? a->config.interval_ns : UINT64_MAX;

	for (const struct peer *p = a->peers; p; p = p->next) {
		if (p->state != PEER_RUNS || p->due_ns > now_ns + AHEAD_NS)
			continue;
		if (job_has_sample(&p->tenant->job))
			return 0;
		interval_ns = min_ns(interval_ns, p->tenant->job.view.run->interval_ns);
	}
	return interval_ns / YOUNG_PARTS;
}

/*
 * Makes all samples that are due from one drain. A young enough drain is reused, so that many
 * clients with different due times do not multiply the cost.
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
		if (p->state == PEER_GONE && peer_may_be_removed(p))
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
	a->has_no_room |= discards_are_many(&a->loop.discard);
	if (a->has_no_room && (wait_ms < 0 || wait_ms > FULL_PAUSE_MS))
		wait_ms = FULL_PAUSE_MS;
	loop_change(&a->loop, &a->sources[AGENT_LISTENING], a->has_no_room ? 0 : EPOLLIN);
	a->has_no_room = false;
	archive_prepare(&a->archive);
	loop_wait(&a->loop, energy_meter_wait(&a->books.energy, wait_ms));
	energy_meter_refresh(&a->books.energy);
	door_attend(a);
	agent_sample(a);
	peers_attend(a);
	node_settle(&a->node);
	watchdog_send_due(&a->watchdog);
}

static void agent_reload(struct agent *a)
{
	char why[CONFIG_WHY_BYTES];

	a->reloads = false;
	notify_reloading();
	if (agent_reload_config(a, why, sizeof(why)))
		log_warn("keeping the previous configuration: %s", why);
	else
		log_note("reloaded the configuration; files: %zu, own rules: %zu",
			 a->config.nr_files, a->config.nr_rules);
	notify_send("READY=1");
}

static bool peers_are_left(const struct agent *a)
{
	for (const struct peer *p = a->peers; p; p = p->next)
		if (!handover_leaves(p))
			return false;
	return true;
}

/*
 * Leaves clients to the next agent, when those that are being answered have begun to run or are
 * gone.
 */
static void agent_hand_over(struct agent *a)
{
	int err;

	for (struct peer *p = a->peers; p; p = p->next)
		if (p->state > PEER_WAITS && !handover_leaves(p))
			peer_stop(p, "the agent was stopped");
	while (!peers_are_left(a))
		agent_turn(a);
	books_drain(&a->books, true);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant)
			job_pause(&p->tenant->job);
		else
			feed_flush(&p->listener.feed); /* of a listener; else it is empty */
	books_consume(&a->books);
	err = handover_finish(a);
	if (err)
		log_warn("cannot leave the runs of clients to the next agent: %s", strerror(-err));
}

static void agent_loop(struct agent *a)
{
	watchdog_open(&a->watchdog);
	while (!a->stops) {
		agent_turn(a);
		if (a->reloads)
			agent_reload(a);
	}
	notify_send("STOPPING=1");
	notices_log_stop(a);
	loop_remove(&a->loop, &a->sources[AGENT_LISTENING]); /* new clients would keep it running */
	if (a->handover.is_on)
		agent_hand_over(a);
	if (a->handover.is_done)
		return;
	/* each gets its summary; peer deadlines bound the wait for slow readers */
	for (struct peer *p = a->peers; p; p = p->next)
		peer_stop(p, "the agent was stopped");
	while (a->peers)
		agent_turn(a);
}

int agent_run(const struct agent_options *o)
{
	static struct agent a;
	char why[CONFIG_WHY_BYTES] = "";
	int err;

	descriptors_raise_limit();
	a.loop.fd = a.archive.stream.fd = -1;
	for (int i = 0; i < NR_AGENT_SOURCES; i++)
		a.sources[i].fd = -1;
	err = agent_open(&a, o, why, sizeof(why));
	if (err) {
		log_error("the agent cannot start: %s", *why ? why : strerror(-err));
	} else {
		notices_log_start(&a);
		notify_send("READY=1");
		handover_renew(&a); /* what it has taken is with no manager now */
		if (a.is_private)
			control_send(o->clients_fd, CONTROL_READY, 0, 0, NULL);
		agent_loop(&a);
	}
	agent_close(&a);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent.h"

#include "agent/porter.h"
#include "agent/agent_open.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/notify.h"
#include "measure/reports.h"
#include "run/metric.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define FULL_PAUSE_MS 100      /* until another descriptor is tried for */
#define AHEAD_NS NSEC_PER_MSEC /* samples that are due so soon share a drain */
#define YOUNG_PARTS 8          /* of its interval a sample may be older than when it was due */

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
	notices_log_gaps(a);
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
		interval_ns = min_ns(interval_ns, p->tenant->job.view.run->interval_ns);
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
	loop_wait(&a->loop, wait_ms);
	door_attend(a);
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
		notices_log_start(&a);
		notify_send("READY=1");
		if (a.is_private)
			control_send(o->clients_fd, CONTROL_READY, 0, 0, NULL);
		agent_work(&a);
	}
	agent_close(&a);
	return err;
}

/* The line about the agent itself: what it costs, what it holds, what it has lost. */

static void losses_write(struct jsonw *j, const struct tracking *t)
{
	jsonw_object(j, "losses");
	for (int i = 0; i < NR_LOSSES; i++)
		jsonw_uint(j, loss_name(i), t->loss[i]);
	jsonw_object_end(j);
}

static uint64_t lines_dropped(const struct agent *a)
{
	uint64_t sum = a->stream.dropped;

	for (const struct listener *l = a->stream.first; l; l = l->next)
		sum += l->feed.dropped;
	return sum;
}

/* Resident memory now, bytes; 0: it cannot be read. */
static uint64_t own_rss_read(void)
{
	FILE *f = memory_fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void agent_values_collect(const struct agent *a, uint64_t value[NR_AGENT_METRICS])
{
	const struct tracker *t = &a->books.tracker;

	value[AGENT_cpu_seconds] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	value[AGENT_rss_bytes] = own_rss_read();
	value[AGENT_map_bytes] = tracker_map_bytes(t);
	value[AGENT_tasks] = TASKS_ALL(tracker_tracking(t)->tasks);
	value[AGENT_max_tasks] = tracker_max_tasks(t);
	value[AGENT_accounts] = t->accounts.nr;
	value[AGENT_max_accounts] = t->accounts.most;
	value[AGENT_cgroups] = a->node.cgroups.nr;
	value[AGENT_jobs] = a->node.nr_jobs;
	value[AGENT_jobs_begun] = a->node.nr_begun;
	value[AGENT_clients] = a->nr_peers;
	value[AGENT_clients_dropped] = a->counts.dropped;
	value[AGENT_refused] = a->counts.refused;
	value[AGENT_lines_dropped] = lines_dropped(a);
	value[AGENT_drains] = t->drains;
	value[AGENT_drain_seconds] = t->drain_ns_total;
	value[AGENT_drain_max_seconds] = t->drain_ns_max;
	value[AGENT_late_ticks] = a->counts.late_ticks;
	value[AGENT_repaired] = tracker_repaired(t);
	value[AGENT_unrepaired] = tracker_unrepaired(t);
}

void agent_report(struct agent *a, struct listener *l)
{
	uint64_t value[NR_AGENT_METRICS];
	struct jsonw j = { 0 };

	if (!l && !a->stream.first)
		return;
	agent_values_collect(a, value);
	jsonw_object(&j, NULL);
	jsonw_string(&j, "kind", "agent");
	jsonw_string(&j, "run", "agent");
	jsonw_string(&j, "version", BPFMON_VERSION);
	jsonw_decimal(&j, "time", clock_ns(CLOCK_REALTIME) / 1000, 6);
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct agent_metric *m = agent_metric_get(i);

		if (value[i] || i != AGENT_rss_bytes) /* it may not have been read */
			jsonw_decimal(&j, m->key, value[i], metric_unit_decimals(m->unit));
	}
	losses_write(&j, tracker_tracking(&a->books.tracker));
	notices_write(a, &j);
	archive_report(&a->archive, &j);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	if (!j.failed)
		stream_put_own(&a->stream, &j, l);
	jsonw_done(&j);
}

/* What the books of the node report, to its jobs and to the runs of its clients. */

static void agent_drain_begin(void *context)
{
	struct agent *a = context;

	node_drain_begin(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.view.books)
			job_drain_begin(&p->tenant->job);
}

static void agent_drain_end(void *context)
{
	struct agent *a = context;

	node_drain_end(&a->node);
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->tenant && p->tenant->job.view.books)
			job_drain_end(&p->tenant->job);
}

static void target_ignore(void *context, const struct cgroup_event *e)
{
	(void)context, (void)e;
}

static void node_total_take(void *context, const struct account_key *key,
			    const struct account *total)
{
	node_total(&((struct agent *)context)->node, key, total);
}

static void node_slice_take(void *context, const struct slice *slice)
{
	node_slice(&((struct agent *)context)->node, slice);
}

static void node_oom_take(void *context, const struct oom_event *e)
{
	node_oom(&((struct agent *)context)->node, e);
}

static void node_begun_take(void *context, const struct account_key *key)
{
	node_begun(&((struct agent *)context)->node, key);
}

static void node_removed_take(void *context, const struct account_key *key,
			      const struct account *total)
{
	node_removed(&((struct agent *)context)->node, key, total);
}

static void node_cgroup_take(void *context, const struct cgroup_name_event *e)
{
	node_cgroup(&((struct agent *)context)->node, e);
}

static void node_empty_take(void *context, const struct account_key *key)
{
	struct agent *a = context;

	(void)key;
	for (struct peer *p = a->peers; p; p = p->next)
		p->may_be_empty = true;
}

const struct books_ops agent_reports = {
	.drain_begin = agent_drain_begin,
	.total = report_total,
	.slice = report_slice,
	.socket = report_socket,
	.unread = report_unread,
	.drain_end = agent_drain_end,
	.process = report_process,
	.oom = report_oom,
	.cgroup = target_ignore,
	.node_total = node_total_take,
	.node_slice = node_slice_take,
	.node_oom = node_oom_take,
	.node_begun = node_begun_take,
	.node_removed = node_removed_take,
	.node_cgroup = node_cgroup_take,
	.node_empty = node_empty_take,
};

/* What a listener gets first: the jobs and runs that there are now. */

struct greeting {
	struct agent *agent;
	struct listener *listener;
	bool with_samples;
};

static void job_greet(void *context, struct node_job *j)
{
	const struct greeting *g = context;

	if (!listener_sees(g->listener, &j->subject))
		return;
	stream_put_meta(&g->agent->stream, &j->subject, g->listener);
	if (g->with_samples)
		stream_put_sample(&g->agent->stream, &j->subject, &j->view.smp, g->listener);
	stream_put_stall(&g->agent->stream, &j->subject, &j->view.stall, j->view.smp.elapsed_ns,
			 g->listener);
}

static void run_greet(const struct greeting *g, const struct peer *p)
{
	struct stream *s = &g->agent->stream;

	if (!p->tenant || p->state != PEER_RUNS || !listener_sees(g->listener, &p->subject))
		return;
	stream_put_meta(s, &p->subject, g->listener);
	if (g->with_samples)
		stream_put_sample(s, &p->subject, &p->tenant->job.view.smp, g->listener);
	stream_put_stall(s, &p->subject, &p->tenant->job.view.stall,
			 p->tenant->job.view.smp.elapsed_ns, g->listener);
}

void agent_greet(struct agent *a, struct listener *l, bool with_samples)
{
	const struct greeting g = { a, l, with_samples };

	node_each(&a->node, job_greet, (void *)&g);
	for (struct peer *p = a->peers; p; p = p->next)
		run_greet(&g, p);
}

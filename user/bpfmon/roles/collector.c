// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/collector.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "measure/job.h"
#include "run/writer.h"
#include "waits/sleepers.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/*
 * Reading the smaps_rollup of a process takes CAP_SYS_PTRACE, unless it has the collector's user;
 * so does reading the path of a program that is moved into the cgroup. The BPF capabilities are
 * kept only where the kernel checks them again (before 5.19, with
 * kernel.unprivileged_bpf_disabled).
 *
 * Without BPF the collector reads such files of each process: with CAP_SYS_PTRACE, or if it lacks
 * that, as in a container, with the user and the capabilities of the command.
 */
static void privilege_drop(struct collector *c)
{
	const bool from_proc = c->spec->run->is_from_proc;
	const uint64_t trace = 1ULL << CAP_SYS_PTRACE;
	const uint64_t bpf = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;

	if (from_proc && !privilege_has(trace)) {
		privilege_keep(UINT64_MAX);
		seccomp_install(SECCOMP_COLLECTOR);
		return;
	}
	privilege_set_effective(trace);
	privilege_leave_root(tracker_may_drain(&c->books.tracker) ? bpf | trace : trace);
	seccomp_install(SECCOMP_COLLECTOR);
}

/* Reports of the books all belong to the only job. */
static void collector_drain_begin(void *context)
{
	job_drain_begin(&((struct collector *)context)->tenant.job);
}

static void collector_drain_end(void *context)
{
	job_drain_end(&((struct collector *)context)->tenant.job);
}

static void cgroup_take(void *context, const struct cgroup_event *e)
{
	target_event(&((struct collector *)context)->tenant.job, e);
}

static void collector_memory(void *context)
{
	limit_watch_note_report(&((struct collector *)context)->tenant.job);
}

static const struct books_ops reports = {
	.drain_begin = collector_drain_begin,
	.total = report_total,
	.slice = report_slice,
	.socket = report_socket,
	.unread = report_unread,
	.drain_end = collector_drain_end,
	.process = report_process,
	.oom = report_oom,
	.cgroup = cgroup_take,
	.memory = collector_memory,
};

static void collector_log_sources(const struct collector *c, uint64_t took_ns)
{
	const struct run *run = c->spec->run;

	if (run->is_from_proc)
		log_info("measuring from /proc, without BPF; births of processes: %s",
			 tracker_births_missing(&c->books.tracker)
				 ? tracker_births_missing(&c->books.tracker)
				 : "reported by the kernel");
	else
		log_info("loaded and attached the BPF programs in %.1f ms; room for %u tasks",
			 (double)took_ns / NSEC_PER_MSEC, tracker_max_tasks(&c->books.tracker));
	for (int i = 0; i < NR_METRICS; i++)
		if (run->unusable[i] &&
		    !metric_source_get(metric_get((enum metric_id)i)->source)->of_hardware)
			log_info("%s is not available: %s", metric_get((enum metric_id)i)->key,
				 run->unusable[i]);
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (c->books.tracker.optional.missing[i][0])
			log_info("%s: not available: %s", optional_row(i)->title,
				 c->books.tracker.optional.missing[i]);
}

/* Waits until the last sample has its PSS, or the time for it is over. */
static void collector_finish_pss(struct collector *c)
{
	struct pollfd p = { .fd = job_pss_fd(&c->tenant.job), .events = POLLIN };

	while (c->tenant.job.view.is_held) {
		if (poll(&p, 1, job_pss_wait(&c->tenant.job, -1)) > 0)
			job_take_pss(&c->tenant.job);
		job_release_overdue(&c->tenant.job);
	}
}

#define ACCOUNT_WAITS 10
#define ACCOUNT_WAIT_NS (50 * NSEC_PER_MSEC)

/*
 * Waits for the driver's accounts of processes that have just ended, if it keeps any. Their records
 * may come later still.
 */
static void collector_finish_gpus(struct collector *c)
{
	const struct timespec pause = { .tv_nsec = ACCOUNT_WAIT_NS };

	if (!c->books.gpus.reader)
		return;
	books_drain(&c->books, false);
	for (int i = 0; gpu_desk_awaits(&c->books.gpus, &c->books.rows) && i < ACCOUNT_WAITS; i++) {
		nanosleep(&pause, NULL);
		books_drain(&c->books, false);
	}
}

/* From here on the collector only waits for the recorder. */
static void collector_close_job(struct collector *c)
{
	uint64_t lost;

	collector_finish_gpus(c);
	tenant_close_job(&c->tenant);
	lost = tracker_births_lost(&c->books.tracker);
	if (lost)
		log_info("the number of processes is a lower bound: at least %" PRIu64
			 " events of births and ends were lost",
			 lost);
	collector_finish_pss(c);
	while (!job_close_step(&c->tenant.job))
		feed_flush_whole(&c->tenant.feed, &c->with_recorder);
	feed_flush_whole(&c->tenant.feed, &c->with_recorder);
}

/*
 * Waits for a packet that is a message of its own or the last part of one. Returns what
 * message_receive() does.
 */
static int packet_next(struct collector *c, struct control *packet)
{
	struct pollfd p = { .fd = c->tenant.assignment.spec.control_fd, .events = POLLIN };
	int got;

	for (;;) {
		got = message_receive(&c->message, p.fd, packet);
		if (got != -EAGAIN)
			return got;
		poll(&p, 1, -1);
	}
}

static void description_take(struct collector *c)
{
	char why[256];

	if (assignment_take_description(&c->tenant.assignment, &c->message, why, sizeof(why)))
		log_warn("the collector cannot accept the description of the run: %s", why);
}

bool collector_wait_for_start(struct collector *c, uint64_t *when_ns)
{
	struct control packet;
	int got;

	c->message.limit = DESCRIPTION_BYTES;
	while ((got = packet_next(c, &packet)) == 1 && packet.type == CONTROL_DESCRIPTION)
		description_take(c);
	message_done(&c->message);
	if (got < 0)
		log_warn(
			"the collector cannot read from the launcher: %s; nothing will be recorded",
			strerror(-got));
	if (got != 1 || packet.type != CONTROL_START)
		return false;
	*when_ns = packet.when_ns;
	return true;
}

/* Sends the summary to the launcher if the recorder is gone. */
static int collector_send_summary(int control_fd, const struct summary *s)
{
	struct jsonw j = { 0 };

	write_summary(&j, s);
	return message_send_json(control_fd, CONTROL_SUMMARY, &j, NULL, 0, -1);
}

#define BIRTHS_NS (2 * NSEC_PER_MSEC) /* by then a child has executed its program */
#define FIRST_LOOK_MS 20              /* if the kernel does not report moves into a cgroup */

/*
 * Waits until the cgroup has its first process, or the launcher ends the run. Checks after each
 * event, and every FIRST_LOOK_MS if the kernel does not report all moves.
 */
static void collector_wait_for_first(struct collector *c)
{
	const bool is_reported = optionals_have_group(&c->books.tracker.optional, GROUP_OF_CGROUP);
	struct account totals;

	log_info("waiting for the first process of '%s'", c->spec->tracker.cgroup->cg.path);
	for (;;) {
		target_look(&c->tenant.job);
		totals = job_totals(&c->tenant.job);
		if (c->tenant.progress == OVER || totals.forks + totals.roots)
			return;
		loop_wait(&c->loop, is_reported ? -1 : FIRST_LOOK_MS);
		books_consume(&c->books);
	}
}

/* Ticks at start + k * interval: a late tick does not shift the next. */
static int ticks_start(uint64_t start_ns, uint64_t interval_ns)
{
	uint64_t first = start_ns + interval_ns;
	struct itimerspec at = {
		.it_value = { (time_t)(first / NSEC_PER_SEC), (long)(first % NSEC_PER_SEC) },
		.it_interval = { (time_t)(interval_ns / NSEC_PER_SEC),
				 (long)(interval_ns % NSEC_PER_SEC) },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void handle_ticks(void *context, uint32_t events)
{
	struct collector *c = context;
	uint64_t passed = 0;

	(void)events;
	if (read(c->sources[TICKS].fd, &passed, sizeof(passed)) != sizeof(passed) || !passed)
		return;
	tenant_note_ticks(&c->tenant, passed);
	job_sample(&c->tenant.job);
}

static void looks_set(struct collector *c, uint64_t pause_ns)
{
	const struct itimerspec at = { .it_value = { (time_t)(pause_ns / NSEC_PER_SEC),
						     (long)(pause_ns % NSEC_PER_SEC) } };

	timerfd_settime(c->sources[LOOKS].fd, 0, &at, NULL);
}

/* Delays the look, so that it covers further births of the next moment. */
static void handle_births(void *context, uint32_t events)
{
	(void)events;
	looks_set(context, BIRTHS_NS);
}

/* Without BPF: looks for processes that begin and end between two samples. */
static void handle_looks(void *context, uint32_t events)
{
	struct collector *c = context;
	const struct tracker *t = &c->books.tracker;
	const bool has_births = tracker_births_fd(t) >= 0;
	const uint64_t pause_ns = tracker_look(&c->books.tracker);
	uint64_t passed;

	(void)events;
	if (read(c->sources[LOOKS].fd, &passed, sizeof(passed)) < 0 && errno != EAGAIN)
		return;
	looks_set(c, pause_ns);
	if (tracker_births_fd(t) >= 0)
		loop_change(&c->loop, &c->sources[BIRTHS], EPOLLIN | EPOLLONESHOT);
	else if (has_births)
		log_info("births are no longer reported by the kernel: %s",
			 tracker_births_missing(t));
}

static int source_add(struct collector *c, enum loop_source_id id, int fd,
		      void (*ready)(void *context, uint32_t events))
{
	c->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = c };
	return fd < 0 ? 0 : loop_add(&c->loop, &c->sources[id], EPOLLIN);
}

/*
 * Returns the time until the next check whether the run is over, in ms; 0 if it is over; -1 if an
 * event will end it.
 */
static int collector_wait_ms(struct collector *c, uint64_t end_ns)
{
	const bool by_cgroup = c->spec->tracker.cgroup;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (c->tenant.progress == COMMAND_ENDED && !by_cgroup &&
	    !job_totals(&c->tenant.job).processes)
		return 0;
	if (by_cgroup && end_ns == UINT64_MAX)
		end_ns = target_end_ns(&c->tenant.job);
	if (end_ns <= now_ns)
		return 0;
	return end_ns == UINT64_MAX ? -1 : (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

/* Takes samples, and handles events between them, until the run is over. */
static void collector_watch(struct collector *c)
{
	struct tenant *t = &c->tenant;
	__cleanup(closep) int timer =
		ticks_start(t->job.view.start_ns, t->job.view.run->interval_ns);
	__cleanup(closep) int looks = -1;
	uint64_t duration_ns = c->spec->duration_ns;
	uint64_t end_ns = duration_ns ? t->job.view.start_ns + duration_ns : UINT64_MAX;

	source_add(c, TICKS, timer, handle_ticks);
	if (tracker_needs_looks(&c->books.tracker)) {
		looks = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		source_add(c, LOOKS, looks, handle_looks);
		source_add(c, BIRTHS, tracker_births_fd(&c->books.tracker), handle_births);
		handle_looks(c, 0);
	}
	if (tenant_open_desk(t))
		log_warn("the command cannot begin spans: out of memory");
	while (t->progress != OVER) {
		int wait_ms = collector_wait_ms(c, end_ns);

		if (!wait_ms)
			return;
		tenant_watch_feed(t);
		loop_wait(&c->loop, energy_meter_wait(&c->books.energy, tenant_wait(t, wait_ms)));
		energy_meter_refresh(&c->books.energy);
		tenant_attend(t);
	}
}

static void collector_track(struct collector *c)
{
	uint64_t start_ns;

	if (!collector_wait_for_start(c, &start_ns))
		return;
	if (!c->tenant.assignment.is_described)
		tenant_set_incomplete(&c->tenant, "the description of the run was lost");
	c->tenant.progress = c->spec->command ? RUNNING : COMMAND_ENDED;
	if (c->spec->wait_start)
		collector_wait_for_first(c);
	job_start(&c->tenant.job, start_ns);
	collector_watch(c);
	collector_close_job(c);
	if (!c->tenant.feed.is_broken)
		return;
	tenant_set_killed(&c->tenant, "recorder", ": its files end there");
	collector_send_summary(c->spec->control_fd, &c->tenant.job.view.tally.summary);
}

/*
 * Opens the books of the permitted source: BPF, or /proc if it may replace BPF and can show what is
 * to be tracked. Returns 0 or a negative errno: -ENODATA if nothing is to be recorded, because the
 * kernel refuses BPF.
 */
static int books_open_any(struct collector *c, enum collector_source source, char *why, size_t size)
{
	struct tracker_options *o = &c->tenant.assignment.spec.tracker;
	char refused[512];
	int err = -EPERM;

	if (source != FROM_PROC)
		err = books_open(&c->books, o, &reports, c, why, size);
	if (!err || source == FROM_BPF || o->cgroup || memory_has_failed() || err == -EMFILE)
		return err; /* or the reason is not that BPF is unavailable */
	if (source == FROM_BPF_OR_NONE)
		return -ENODATA;
	snprintf(refused, sizeof(refused), "%s", why);
	books_close(&c->books);
	o->proc_launcher = getppid();
	c->tenant.assignment.run.is_from_proc = true;
	err = books_open(&c->books, o, &reports, c, why, size);
	if (!err && source == FROM_BPF_OR_PROC)
		log_warn("%s; measuring from /proc instead, which is less complete", refused);
	return err;
}

static const char gone[] = "the launcher has exited";

/* Copies the options that do not come from the request. */
static void options_take(struct assignment *a, const struct collector_options *o)
{
	struct tracker_options *t = &a->spec.tracker;

	a->spec.control_fd = o->control_fd;
	a->spec.recorder = o->recorder;
	a->spec.count_sleepers = sleepers_count;
	t->verbose = o->verbose;
	t->max_tasks = o->max_tasks;
	t->inject_misses = o->inject_misses;
	t->inject_free_misses = o->inject_free_misses;
	t->refusals = o->refusals;
	a->spec.pss_delay_ns = o->slow_pss_ms * (uint64_t)NSEC_PER_MSEC;
	a->run.is_altered = o->inject_misses || o->inject_free_misses || o->slow_pss_ms ||
			    refusals_any(&o->refusals);
	run_describe_machine(&a->run);
}

int collector_receive(struct collector *c, const struct collector_options *o, char *why,
		      size_t size)
{
	struct control packet;
	char wrong[512];
	int got;

	options_take(&c->tenant.assignment, o);
	c->message.limit = REQUEST_BYTES;
	got = packet_next(c, &packet);
	if (got == 1 && packet.type == CONTROL_REQUEST) {
		got = assignment_take_request(&c->tenant.assignment, &c->message, wrong,
					      sizeof(wrong));
		if (got)
			snprintf(why, size, "the collector cannot accept the request: %s", wrong);
		return got;
	}
	snprintf(why, size, "the collector received no request: %s",
		 got < 0 ? strerror(-got) : gone);
	return got < 0 ? got : -EPROTO;
}

static void handle_control(void *context, uint32_t events)
{
	struct collector *c = context;
	struct control m;
	int got = control_receive(c->spec->control_fd, &m);
	struct reaped r;

	(void)events;
	if (got == 1 && *m.text && (m.type == CONTROL_REAPED || m.type == CONTROL_ENDED) &&
	    reaped_scan(&r, m.text))
		tracker_note_reaped(&c->books.tracker, &r);
	if (got == 1 && m.type == CONTROL_REAPED)
		return;
	if (got != -EAGAIN)
		tenant_handle_control(&c->tenant, got == 1 ? &m : NULL);
}

static void handle_records(void *context, uint32_t events)
{
	(void)events;
	books_consume(&((struct collector *)context)->books);
}

/* Adds all sources but the ticks to the loop. Returns 0 or a negative errno. */
static int collector_open_sources(struct collector *c)
{
	int err = source_add(c, CONTROL, c->spec->control_fd, handle_control);

	if (!err)
		err = source_add(c, RECORDS, tracker_events_fd(&c->books.tracker), handle_records);
	return err ? err : tenant_open_sources(&c->tenant);
}

static int collector_open(struct collector *c, const struct collector_options *o, char *why,
			  size_t size)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	const struct job_spec *spec = &c->tenant.assignment.spec;
	int err;

	c->spec = spec;
	c->loop.fd = -1;
	c->with_recorder = (struct patience){ .watched_fd = o->control_fd,
					      .limit_ns = PATIENCE_WITH_RECORDER_NS };
	tenant_init(&c->tenant, &c->loop);
	err = collector_receive(c, o, why, size);
	feed_init(&c->tenant.feed, spec->stream_fd);
	if (!err)
		err = loop_init(&c->loop);
	if (!err)
		err = books_open_any(c, o->source, why, size);
	if (err)
		return err;
	c->books.rest = &c->tenant.job;
	err = job_open(&c->tenant.job, spec, &c->books, why, size);
	if (err)
		return err;
	feeds_add(&c->tenant.job.view.feeds, &c->tenant.feed);
	collector_log_sources(c, clock_ns(CLOCK_MONOTONIC) - began_ns);
	privilege_drop(c);
	err = tenant_start_threads(&c->tenant, why, size);
	return err ? err : collector_open_sources(c);
}

static void collector_close(struct collector *c)
{
	tenant_done(&c->tenant);
	books_close(&c->books);
	message_done(&c->message);
	loop_done(&c->loop);
}

int collector_run(const struct collector_options *o)
{
	static struct collector c; /* 100 KiB, too large for the stack */
	char why[512] = "";
	int err = collector_open(&c, o, why, sizeof(why));

	if (memory_has_failed() || (err && !why[0])) {
		err = err ? err : -ENOMEM;
		snprintf(why, sizeof(why),
			 "the collector cannot start: %s; the command was not run",
			 memory_has_failed() ? "out of memory" : strerror(-err));
	}
	if (err) {
		control_send(o->control_fd, err == -ENODATA ? CONTROL_UNAVAILABLE : CONTROL_FAILED,
			     err, 0, why);
	} else {
		err = control_send(o->control_fd, CONTROL_READY, c.spec->run->is_from_proc, 0,
				   NULL);
		if (!err) /* else launcher and collector would wait for ever */
			collector_track(&c);
		close(c.tenant.feed.fd); /* the recorder ends meanwhile */
	}
	collector_close(&c);
	return err;
}

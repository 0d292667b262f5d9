// SPDX-License-Identifier: BSD-2-Clause
#include "collect/collector.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "collect/loop.h"
#include "job/job.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_LOOK_MS 20 /* where the kernel does not report what is moved into a cgroup */

enum progress { WAITS, RUNNING, COMMAND_ENDED, OVER };

enum source { CONTROL, TICKS, RECORDS, FEED, PUSHED, NR_SOURCES };

/* The role: one set of books, one job, one listener. */
struct collector {
	const struct job_spec *spec;
	struct books books;
	struct job job;
	struct feed feed;
	struct loop loop;
	struct loop_source sources[NR_SOURCES];
	struct patience with_recorder; /* ends some time after the launcher */
	enum progress progress;
	bool feed_waits; /* for POLLOUT */
};

/*
 * Another's smaps_rollup may be read with CAP_SYS_PTRACE alone, and the name of what one executes
 * that is moved into our cgroup. The BPF capabilities are kept only where the kernel asks for them
 * again (before 5.19, with kernel.unprivileged_bpf_disabled).
 */
static void privilege_drop(struct collector *c)
{
	const bool reads_others = c->spec->pss_ppm || c->spec->tracker.cgroup;
	const uint64_t trace = reads_others ? 1ULL << CAP_SYS_PTRACE : 0;
	const uint64_t bpf = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;

	privilege_use(trace);
	privilege_leave_root(tracker_drain(&c->books.tracker, NULL, NULL) ? bpf | trace : trace);
	seccomp_install(SECCOMP_COLLECTOR);
}

/* What the books report: all of it is of the one job. */
static void drain_begin(void *context)
{
	job_drain_begin(&((struct collector *)context)->job);
}

static void drain_end(void *context)
{
	job_drain_end(&((struct collector *)context)->job);
}

static void total_take(void *owner, const struct account *total)
{
	job_total(owner, total);
}

static void slice_take(void *owner, const struct slice *slice)
{
	job_slice(owner, slice);
}

static void unread_take(void *owner)
{
	job_unread(owner);
}

static void process_take(void *owner, const struct process_record *r)
{
	job_process(owner, r);
}

static void oom_take(void *owner, const struct oom_event *e)
{
	job_oom(owner, e);
}

static void cgroup_take(void *context, const struct cgroup_event *e)
{
	target_event(&((struct collector *)context)->job, e);
}

static const struct books_ops reports = {
	.drain_begin = drain_begin,
	.total = total_take,
	.slice = slice_take,
	.unread = unread_take,
	.drain_end = drain_end,
	.process = process_take,
	.oom = oom_take,
	.cgroup = cgroup_take,
};

/* Ticks at start + k * interval: a late one does not shift the next. */
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
	struct job *job = &c->job;
	uint64_t passed = 0;

	(void)events;
	if (read(c->sources[TICKS].fd, &passed, sizeof(passed)) != sizeof(passed) || !passed)
		return;
	if (passed > 1) { /* the last sample, or the machine, took longer than the interval */
		job->summary.late_ticks += passed - 1;
		write_event(&job->json, job->run, clock_ns(CLOCK_MONOTONIC) - job->start_ns,
			    "late_ticks", passed - 1);
		feeds_put(&job->feeds, &job->json);
	}
	job_sample(job);
}

static void summary_set_status(struct summary *sum, int status)
{
	sum->has_status = true;
	if (WIFSIGNALED(status))
		sum->signal = WTERMSIG(status);
	else
		sum->exit_code = WEXITSTATUS(status);
}

static void summary_set_incomplete(struct summary *sum, const char *reason)
{
	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", reason);
}

static enum progress progress_after(struct collector *c, const struct control *m)
{
	struct summary *sum = &c->job.summary;

	if (m->type == CONTROL_STOP && !c->spec->command)
		return OVER; /* that is how an attachment ends */
	if (m->type == CONTROL_ENDED) {
		summary_set_status(sum, m->value);
		return c->spec->wait_tree ? COMMAND_ENDED : OVER;
	}
	summary_set_incomplete(sum, c->progress == RUNNING
					    ? "stopped before the command had ended"
					    : "stopped before the last descendant had ended");
	return OVER;
}

static void handle_control(void *context, uint32_t events)
{
	struct collector *c = context;
	struct control m;
	int got = control_receive(c->spec->control_fd, &m);

	(void)events;
	if (got == -EAGAIN)
		return;
	if (got == 1) {
		c->progress = progress_after(c, &m);
	} else {
		summary_set_incomplete(&c->job.summary, "the launcher was killed");
		c->progress = OVER;
	}
}

static void handle_records(void *context, uint32_t events)
{
	(void)events;
	books_consume(&((struct collector *)context)->books);
}

static void handle_feed(void *context, uint32_t events)
{
	struct collector *c = context;

	if (events & (EPOLLERR | EPOLLHUP)) {
		c->feed.is_broken = true;
		loop_remove(&c->loop, &c->sources[FEED]);
	} else {
		feed_flush(&c->feed);
	}
}

static void handle_pushed(void *context, uint32_t events)
{
	(void)context, (void)events; /* it is looked at after every event */
}

static int source_open(struct collector *c, enum source id, int fd, uint32_t events,
		       void (*ready)(void *context, uint32_t events))
{
	c->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = c };
	return fd < 0 ? 0 : loop_add(&c->loop, &c->sources[id], events);
}

static int sources_open(struct collector *c)
{
	int err = source_open(c, CONTROL, c->spec->control_fd, EPOLLIN, handle_control);

	if (!err)
		err = source_open(c, RECORDS, ring_buffer__epoll_fd(c->books.ring), EPOLLIN,
				  handle_records);
	if (!err)
		err = source_open(c, FEED, c->spec->stream_fd, 0, handle_feed);
	if (!err)
		err = source_open(c, PUSHED, c->job.pushed.inbox.wake_fd, EPOLLIN, handle_pushed);
	return err;
}

/* Milliseconds until it has to be looked again whether it is over; 0: it is; -1: an event says so.
 */
static int collector_wait_ms(struct collector *c, uint64_t end_ns)
{
	const bool by_cgroup = c->spec->tracker.cgroup;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (c->progress == COMMAND_ENDED && !by_cgroup && !job_totals(&c->job).processes)
		return 0;
	if (by_cgroup && end_ns == UINT64_MAX)
		end_ns = target_end_ns(&c->job);
	if (end_ns <= now_ns)
		return 0;
	return end_ns == UINT64_MAX ? -1 : (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

/* Until the cgroup has its first process, or the launcher wants us to end. */
static void wait_for_first(struct collector *c)
{
	const bool is_reported = c->books.tracker.optional.there & OPTIONAL_BIT(OPTIONAL_MOVES);
	struct account totals;

	log_info("waiting for the first process of '%s'", c->spec->tracker.cgroup->cg.path);
	for (;;) {
		target_look(&c->job);
		totals = job_totals(&c->job);
		if (c->progress == OVER || totals.forks + totals.roots)
			return;
		loop_wait(&c->loop, is_reported ? -1 : FIRST_LOOK_MS);
		books_consume(&c->books);
	}
}

static void collector_watch(struct collector *c)
{
	uint64_t duration_ns = c->spec->duration_ns;
	uint64_t end_ns = duration_ns ? c->job.start_ns + duration_ns : UINT64_MAX;

	while (c->progress != OVER) {
		int wait_ms = collector_wait_ms(c, end_ns);
		bool feed_waits = feed_is_waiting(&c->feed);

		if (!wait_ms)
			return;
		if (feed_waits != c->feed_waits && !c->feed.is_broken)
			loop_change(&c->loop, &c->sources[FEED], feed_waits ? EPOLLOUT : 0);
		c->feed_waits = feed_waits;
		loop_wait(&c->loop, job_pushed_wait(&c->job, wait_ms));
		job_take_pushed(&c->job);
	}
}

/* Waits for the word that the command has been executed. False: it was not. */
static bool wait_for_start(struct collector *c, uint64_t *when_ns)
{
	struct control m;
	int got = control_receive(c->spec->control_fd, &m);

	if (got < 0)
		log_warn("the collector cannot read what the launcher says: %s; nothing is "
			 "recorded",
			 strerror(-got));
	if (got != 1 || m.type != CONTROL_START)
		return false;
	*when_ns = m.when_ns;
	return true;
}

static void log_what_is_there(const struct collector *c, uint64_t took_ns)
{
	const struct run *run = c->spec->run;

	log_info("the programs in the kernel are loaded and attached after %.1f ms; room for %u "
		 "tasks",
		 (double)took_ns / NSEC_PER_MSEC, tracker_max_tasks(&c->books.tracker));
	for (int i = 0; i < NR_METRICS; i++)
		if (run->unusable[i])
			log_info("%s is not available: %s", metric_get((enum metric_id)i)->key,
				 run->unusable[i]);
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (c->books.tracker.optional.missing[i][0])
			log_info("%s: not available: %s", optional_row(i)->title,
				 c->books.tracker.optional.missing[i]);
}

/* Its thread begins with the rights that are left. */
static int listen_to_programs(struct collector *c, char *why, size_t size)
{
	const struct intake *intake = c->spec->intake;
	int err = intake ? pushed_start(&c->job.pushed, intake) : 0;

	if (err)
		snprintf(why, size, "cannot listen to what programs push: %s", strerror(-err));
	return err;
}

/* There is nothing else to do any more than to wait for the recorder. */
static void collector_close_job(struct collector *c)
{
	job_close(&c->job);
	while (!job_close_step(&c->job))
		feed_flush_whole(&c->feed, &c->with_recorder);
	feed_flush_whole(&c->feed, &c->with_recorder);
}

static void collector_follow(struct collector *c)
{
	int timer;
	uint64_t start_ns;

	if (!wait_for_start(c, &start_ns))
		return;
	c->progress = c->spec->command ? RUNNING : COMMAND_ENDED;
	if (c->spec->wait_start)
		wait_for_first(c);
	job_start(&c->job, start_ns);
	timer = ticks_start(c->job.start_ns, c->job.run->interval_ns);
	source_open(c, TICKS, timer, EPOLLIN, handle_ticks);
	collector_watch(c);
	collector_close_job(c);
	if (timer >= 0)
		close(timer);
	if (!c->feed.is_broken)
		return;
	summary_set_incomplete(&c->job.summary, "the recorder was killed: its files end there");
	if (c->spec->show)
		c->spec->show(&c->job.summary, c->spec->show_context);
}

static int collector_open(struct collector *c, const struct job_spec *spec, char *why, size_t size)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	c->spec = spec;
	c->loop.fd = -1;
	c->with_recorder = (struct patience){ .watched_fd = spec->control_fd,
					      .limit_ns = PATIENCE_WITH_RECORDER_NS };
	feed_init(&c->feed, spec->stream_fd);
	job_init(&c->job);
	err = loop_init(&c->loop);
	if (!err)
		err = books_open(&c->books, &spec->tracker, &reports, c, why, size);
	if (err)
		return err;
	c->books.rest = &c->job;
	err = job_open(&c->job, spec, &c->books, why, size);
	if (err)
		return err;
	feeds_add(&c->job.feeds, &c->feed);
	log_what_is_there(c, clock_ns(CLOCK_MONOTONIC) - began_ns);
	privilege_drop(c);
	err = listen_to_programs(c, why, size);
	return err ? err : sources_open(c);
}

static void collector_close(struct collector *c)
{
	job_done(&c->job);
	books_close(&c->books);
	feed_done(&c->feed);
	loop_done(&c->loop);
}

int collector_run(const struct job_spec *spec)
{
	static struct collector c; /* one in a process, and 60 KiB */
	char why[512] = "";
	int err = collector_open(&c, spec, why, sizeof(why));

	if (memory_was_short() || (err && !why[0])) {
		err = err ? err : -ENOMEM;
		snprintf(why, sizeof(why), "the collector cannot start: %s; nothing was run",
			 memory_was_short() ? "out of memory" : strerror(-err));
	}
	if (err) {
		control_send(spec->control_fd, CONTROL_FAILED, err, 0, why);
		collector_close(&c);
		return err;
	}
	err = control_send(spec->control_fd, CONTROL_READY, 0, 0, NULL);
	if (!err) /* else the launcher would wait for ever, and so would we */
		collector_follow(&c);
	collector_close(&c);
	return err;
}

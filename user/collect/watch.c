// SPDX-License-Identifier: BSD-2-Clause
/* The events that the collector handles while the run goes on. */
#include "collect/role.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_LOOK_MS 20 /* if the kernel does not report moves into a cgroup */

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
	if (passed > 1) { /* a slow sample, or a loaded machine */
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

void summary_set_incomplete(struct summary *sum, const char *reason)
{
	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", reason);
}

static enum progress progress_after(struct collector *c, const struct control *m)
{
	struct summary *sum = &c->job.summary;

	if (m->type == CONTROL_STOP && !c->spec->command)
		return OVER; /* the regular end of an attachment */
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
	(void)context, (void)events; /* collector_watch() takes what is there after every event */
}

static void handle_pss(void *context, uint32_t events)
{
	(void)events;
	job_take_pss(&((struct collector *)context)->job);
}

static int source_open(struct collector *c, enum source id, int fd, uint32_t events,
		       void (*ready)(void *context, uint32_t events))
{
	c->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = c };
	return fd < 0 ? 0 : loop_add(&c->loop, &c->sources[id], events);
}

int collector_open_sources(struct collector *c)
{
	int err = source_open(c, CONTROL, c->spec->control_fd, EPOLLIN, handle_control);

	if (!err)
		err = source_open(c, RECORDS, ring_buffer__epoll_fd(c->books.ring), EPOLLIN,
				  handle_records);
	if (!err)
		err = source_open(c, FEED, c->spec->stream_fd, 0, handle_feed);
	if (!err)
		err = source_open(c, PUSHED, c->job.pushed.inbox.wake_fd, EPOLLIN, handle_pushed);
	if (!err)
		err = source_open(c, PSS, job_pss_fd(&c->job), EPOLLIN, handle_pss);
	return err;
}

/* Milliseconds until the next check whether the run is over; 0: it is; -1: an event will end it.
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

/* Checks after each event, and every FIRST_LOOK_MS if the kernel does not report all that
 * befalls a cgroup. */
void collector_wait_for_first(struct collector *c)
{
	const unsigned there = c->books.tracker.optional.there;
	const bool is_reported = (there & OPTIONAL_OF_CGROUP) == OPTIONAL_OF_CGROUP;
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

void collector_watch(struct collector *c)
{
	__cleanup(closep) int timer = ticks_start(c->job.start_ns, c->job.run->interval_ns);
	uint64_t duration_ns = c->spec->duration_ns;
	uint64_t end_ns = duration_ns ? c->job.start_ns + duration_ns : UINT64_MAX;

	source_open(c, TICKS, timer, EPOLLIN, handle_ticks);
	if (span_desk_open(&c->desk, c->spec->span_fd, &c->loop, &c->job))
		log_warn("the command can begin no spans: out of memory");
	while (c->progress != OVER) {
		int wait_ms = collector_wait_ms(c, end_ns);
		bool feed_waits = feed_is_waiting(&c->feed);

		if (!wait_ms)
			return;
		if (feed_waits != c->feed_waits && !c->feed.is_broken)
			loop_change(&c->loop, &c->sources[FEED], feed_waits ? EPOLLOUT : 0);
		c->feed_waits = feed_waits;
		wait_ms = job_pss_wait(&c->job, wait_ms);
		loop_wait(&c->loop, job_pushed_wait(&c->job, wait_ms));
		job_release_overdue(&c->job);
		job_take_pushed(&c->job);
	}
}

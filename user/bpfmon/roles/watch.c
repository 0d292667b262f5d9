// SPDX-License-Identifier: BSD-2-Clause
/* The events that the collector handles while the run goes on. */
#include "bpfmon/roles/role.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BIRTHS_NS                                                                                  \
	(2 * NSEC_PER_MSEC) /* after the first: a child has executed its program by then */
#define FIRST_LOOK_MS 20    /* if the kernel does not report moves into a cgroup */

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

/* The kernel reports births: what comes within a moment is taken at once, by a look. */
static void handle_births(void *context, uint32_t events)
{
	(void)events;
	looks_set(context, BIRTHS_NS);
}

/* Without BPF: what begins and ends between two samples is looked for. */
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
		log_info("births are no longer taken from the kernel: %s",
			 tracker_births_missing(t));
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
		tenant_obey(&c->tenant, got == 1 ? &m : NULL);
}

static void handle_records(void *context, uint32_t events)
{
	(void)events;
	books_consume(&((struct collector *)context)->books);
}

static int source_add(struct collector *c, enum source id, int fd,
		      void (*ready)(void *context, uint32_t events))
{
	c->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = c };
	return fd < 0 ? 0 : loop_add(&c->loop, &c->sources[id], EPOLLIN);
}

int collector_open_sources(struct collector *c)
{
	int err = source_add(c, CONTROL, c->spec->control_fd, handle_control);

	if (!err)
		err = source_add(c, RECORDS, tracker_events_fd(&c->books.tracker), handle_records);
	return err ? err : tenant_open_sources(&c->tenant);
}

/* Milliseconds until the next check whether the run is over; 0: it is; -1: an event will end it.
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

/* Checks after each event, and every FIRST_LOOK_MS if the kernel does not report all that
 * befalls a cgroup. */
void collector_wait_for_first(struct collector *c)
{
	const unsigned there = c->books.tracker.optional.there;
	const bool is_reported = (there & OPTIONAL_OF_CGROUP) == OPTIONAL_OF_CGROUP;
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

void collector_watch(struct collector *c)
{
	struct tenant *t = &c->tenant;
	__cleanup(closep) int timer = ticks_start(t->job.start_ns, t->job.run->interval_ns);
	__cleanup(closep) int looks = -1;
	uint64_t duration_ns = c->spec->duration_ns;
	uint64_t end_ns = duration_ns ? t->job.start_ns + duration_ns : UINT64_MAX;

	source_add(c, TICKS, timer, handle_ticks);
	if (tracker_needs_looks(&c->books.tracker)) {
		looks = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		source_add(c, LOOKS, looks, handle_looks);
		source_add(c, BIRTHS, tracker_births_fd(&c->books.tracker), handle_births);
		handle_looks(c, 0);
	}
	if (tenant_open_desk(t))
		log_warn("the command can begin no spans: out of memory");
	while (t->progress != OVER) {
		int wait_ms = collector_wait_ms(c, end_ns);

		if (!wait_ms)
			return;
		tenant_watch_feed(t);
		loop_wait(&c->loop, tenant_wait(t, wait_ms));
		tenant_attend(t);
	}
}

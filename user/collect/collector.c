// SPDX-License-Identifier: BSD-2-Clause
#include "collect/collector.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "job/session.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define FIRST_POLL_MS 20 /* how soon the first process of a cgroup is noticed */

/*
 * Another's smaps_rollup may be read with CAP_SYS_PTRACE alone, and the name of what one executes
 * that is moved into our cgroup. The BPF capabilities are kept only where the kernel asks for them
 * again (before 5.19, with kernel.unprivileged_bpf_disabled).
 */
static void privilege_drop(struct session *s)
{
	const bool reads_others = s->options->pss_ppm || s->options->tracker.cgroup;
	const uint64_t trace = reads_others ? 1ULL << CAP_SYS_PTRACE : 0;
	const uint64_t bpf = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;

	privilege_use(trace);
	privilege_leave_root(tracker_drain(&s->tracker, NULL, NULL) ? bpf | trace : trace);
	seccomp_install(SECCOMP_COLLECTOR);
}

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

static void tick(struct session *s, int fd)
{
	uint64_t passed = 0;

	if (read(fd, &passed, sizeof(passed)) != sizeof(passed) || !passed)
		return;
	if (passed > 1) { /* the last sample, or the machine, took longer than the interval */
		s->summary.late_ticks += passed - 1;
		write_event(&s->json, s->run, clock_ns(CLOCK_MONOTONIC) - s->start_ns, "late_ticks",
			    passed - 1);
		stream_put(&s->stream, &s->json);
	}
	session_sample(s);
}

static void set_status(struct summary *sum, int status)
{
	sum->has_status = true;
	if (WIFSIGNALED(status))
		sum->signal = WTERMSIG(status);
	else
		sum->exit_code = WEXITSTATUS(status);
}

static void incomplete(struct summary *sum, const char *reason)
{
	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", reason);
}

enum progress { RUNNING, COMMAND_ENDED, OVER };

static enum progress hear(struct session *s, enum progress now)
{
	struct control m;
	int got = control_receive(s->options->control_fd, &m);

	if (got == -EAGAIN)
		return now;
	if (got != 1) {
		incomplete(&s->summary, "the launcher was killed");
		return OVER;
	}
	if (m.type == CONTROL_STOP && !s->options->command)
		return OVER; /* that is how an attachment ends */
	if (m.type == CONTROL_ENDED) {
		set_status(&s->summary, m.value);
		return s->options->wait_tree ? COMMAND_ENDED : OVER;
	}
	incomplete(&s->summary, now == RUNNING ? "stopped before the command had ended"
					       : "stopped before the last descendant had ended");
	return OVER;
}

/* Milliseconds until it has to be looked again whether it is over; 0: it is; -1: an event says so.
 */
static int wait_for(struct session *s, enum progress now, uint64_t end_ns)
{
	bool by_cgroup = s->options->tracker.cgroup;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now == COMMAND_ENDED && !by_cgroup && !session_live(s))
		return 0;
	if (by_cgroup && end_ns == UINT64_MAX)
		end_ns = target_end_ns(s);
	if (end_ns <= now_ns)
		return 0;
	return end_ns == UINT64_MAX ? -1 : (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

/* Until the cgroup has its first process; or somebody wants us to end. */
static enum progress wait_for_first(struct session *s)
{
	struct pollfd p = { .fd = s->options->control_fd, .events = POLLIN };
	enum progress now = RUNNING;

	log_info("waiting for the first process of '%s'", s->options->tracker.cgroup->cg.path);
	while (now != OVER && !session_processes(s)) {
		if (poll(&p, 1, FIRST_POLL_MS) > 0)
			now = hear(s, now);
		target_look(s);
	}
	return now;
}

enum source_of_news { CONTROL, TICKS, RECORDS, STREAM, PUSHED, NR_SOURCES };

/* Until there is something, or so long. False: a signal came instead. */
static bool wait_for_news(struct session *s, struct pollfd *p, int wait_ms)
{
	p[STREAM].fd = s->stream.is_broken ? -1 : s->options->stream_fd;
	p[STREAM].events = stream_is_waiting(&s->stream) ? POLLOUT : 0;
	return poll(p, NR_SOURCES, session_pushed_wait(s, wait_ms)) >= 0;
}

static void watch(struct session *s, enum progress now)
{
	__cleanup(closep) int timer = ticks_start(s->start_ns, s->run->interval_ns);
	uint64_t duration_ns = s->options->duration_ns;
	uint64_t end_ns = duration_ns ? s->start_ns + duration_ns : UINT64_MAX;
	struct pollfd p[NR_SOURCES] = {
		[CONTROL] = { .fd = s->options->control_fd, .events = POLLIN },
		[TICKS] = { .fd = timer, .events = POLLIN },
		[RECORDS] = { .fd = ring_buffer__epoll_fd(s->ring), .events = POLLIN },
		[PUSHED] = { .fd = s->pushed.inbox.wake_fd, .events = POLLIN },
	};

	while (now != OVER) {
		int wait_ms = wait_for(s, now, end_ns);

		if (!wait_ms)
			break;
		if (!wait_for_news(s, p, wait_ms))
			continue;
		if (p[RECORDS].revents)
			session_consume(s);
		if (p[STREAM].revents & (POLLERR | POLLHUP))
			s->stream.is_broken = true;
		else if (p[STREAM].revents)
			stream_flush(&s->stream);
		if (p[TICKS].revents)
			tick(s, timer);
		session_take_pushed(s);
		if (p[CONTROL].revents)
			now = hear(s, now);
	}
}

/* Waits for the word that the command has been executed. False: it was not. */
static bool wait_for_start(struct session *s, uint64_t *when_ns)
{
	struct control m;
	int got = control_receive(s->options->control_fd, &m);

	if (got < 0)
		log_warn(
			"the collector cannot read what the launcher says: %s; nothing is recorded",
			strerror(-got));
	if (got != 1 || m.type != CONTROL_START)
		return false;
	*when_ns = m.when_ns;
	return true;
}

static void tell(const struct session *s, uint64_t took_ns)
{
	log_info("the programs in the kernel are loaded and attached after %.1f ms; room for %u "
		 "tasks",
		 (double)took_ns / NSEC_PER_MSEC, tracker_max_tasks(&s->tracker));
	for (int i = 0; i < NR_METRICS; i++)
		if (s->run->unusable[i])
			log_info("%s is not available: %s", metric_get((enum metric_id)i)->key,
				 s->run->unusable[i]);
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (s->tracker.optional.missing[i][0])
			log_info("%s: not available: %s", optional_row(i)->title,
				 s->tracker.optional.missing[i]);
}

/* Its thread begins with the rights that are left. */
static int listen_to_programs(struct session *s, char *why, size_t size)
{
	const struct intake *intake = s->options->intake;
	int err = intake ? pushed_start(&s->pushed, intake) : 0;

	if (err)
		snprintf(why, size, "cannot listen to what programs push: %s", strerror(-err));
	return err;
}

static void run_session(struct session *s)
{
	const struct job_spec *o = s->options;
	enum progress progress = o->command ? RUNNING : COMMAND_ENDED;
	uint64_t start_ns;

	if (!wait_for_start(s, &start_ns))
		return;
	if (o->wait_start)
		progress = wait_for_first(s);
	session_start(s, start_ns);
	watch(s, progress);
	session_close(s);
	if (!s->stream.is_broken)
		return;
	incomplete(&s->summary, "the recorder was killed: its files end there");
	if (o->show)
		o->show(&s->summary, o->show_context);
}

int collector_run(const struct job_spec *o)
{
	static struct session s; /* one in a process, and 40 KiB */
	char why[512] = "";
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int err = session_open(&s, o, why, sizeof(why));

	if (!err) {
		tell(&s, clock_ns(CLOCK_MONOTONIC) - began_ns);
		privilege_drop(&s);
		err = listen_to_programs(&s, why, sizeof(why));
	}
	if (memory_was_short() || (err && !why[0])) {
		err = err ? err : -ENOMEM;
		snprintf(why, sizeof(why), "the collector cannot start: %s; nothing was run",
			 memory_was_short() ? "out of memory" : strerror(-err));
	}
	if (err) {
		control_send(o->control_fd, CONTROL_FAILED, err, 0, why);
		session_done(&s);
		return err;
	}
	err = control_send(o->control_fd, CONTROL_READY, 0, 0, NULL);
	if (!err) /* else the launcher would wait for ever, and so would we */
		run_session(&s);
	session_done(&s);
	return err;
}

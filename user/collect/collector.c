// SPDX-License-Identifier: BSD-2-Clause
#include "collect/collector.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "collect/role.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The smaps_rollup of another user's process may be read with CAP_SYS_PTRACE alone, and so may the
 * path of a program that is moved into the cgroup. The BPF capabilities are kept only where the
 * kernel asks for them again (before 5.19, with kernel.unprivileged_bpf_disabled).
 */
static void privilege_drop(struct collector *c)
{
	const bool reads_others = c->spec->pss_ppm || c->spec->tracker.cgroup;
	const uint64_t trace = reads_others ? 1ULL << CAP_SYS_PTRACE : 0;
	const uint64_t bpf = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;

	privilege_set_effective(trace);
	privilege_leave_root(tracker_may_drain(&c->books.tracker) ? bpf | trace : trace);
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

static void total_take(void *owner, const struct account_key *key, const struct account *total)
{
	job_total(owner, key, total);
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

static int begin_to_read_pss(struct collector *c, char *why, size_t size)
{
	int err = job_start_pss(&c->job);

	if (err)
		snprintf(why, size, "the thread that reads PSS cannot be started: %s",
			 strerror(-err));
	return err;
}

/* The last sample has its PSS, or has waited for it long enough. */
static void collector_finish_pss(struct collector *c)
{
	struct pollfd p = { .fd = job_pss_fd(&c->job), .events = POLLIN };

	while (c->job.held.is_waiting) {
		if (poll(&p, 1, job_pss_wait(&c->job, -1)) > 0)
			job_take_pss(&c->job);
		job_release_overdue(&c->job);
	}
}

/* There is nothing else to do any more than to wait for the recorder. */
static void collector_close_job(struct collector *c)
{
	span_desk_close(&c->desk);
	job_close(&c->job);
	collector_finish_pss(c);
	while (!job_close_step(&c->job))
		feed_flush_whole(&c->feed, &c->with_recorder);
	feed_flush_whole(&c->feed, &c->with_recorder);
}

static void collector_follow(struct collector *c)
{
	uint64_t start_ns;

	if (!assignment_wait_for_start(&c->assignment, &start_ns))
		return;
	if (!c->assignment.is_described)
		summary_set_incomplete(&c->job.summary, "the description of the run was lost");
	c->progress = c->spec->command ? RUNNING : COMMAND_ENDED;
	if (c->spec->wait_start)
		collector_wait_for_first(c);
	job_start(&c->job, start_ns);
	collector_watch(c);
	collector_close_job(c);
	if (!c->feed.is_broken)
		return;
	summary_set_incomplete(&c->job.summary, "the recorder was killed: its files end there");
	collector_send_summary(c->spec->control_fd, &c->job.summary);
}

static int collector_open(struct collector *c, const struct collector_options *o, char *why,
			  size_t size)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	const struct job_spec *spec = &c->assignment.spec;
	int err;

	c->spec = spec;
	c->loop.fd = -1;
	c->with_recorder = (struct patience){ .watched_fd = o->control_fd,
					      .limit_ns = PATIENCE_WITH_RECORDER_NS };
	job_init(&c->job);
	span_desk_init(&c->desk);
	err = assignment_receive(&c->assignment, o, why, size);
	feed_init(&c->feed, spec->stream_fd);
	if (!err)
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
	if (!err)
		err = begin_to_read_pss(c, why, size);
	return err ? err : collector_open_sources(c);
}

static void collector_close(struct collector *c)
{
	span_desk_close(&c->desk);
	job_done(&c->job);
	books_close(&c->books);
	feed_done(&c->feed);
	loop_done(&c->loop);
	assignment_done(&c->assignment);
}

int collector_run(const struct collector_options *o)
{
	static struct collector c; /* one in a process, and 100 KiB */
	char why[512] = "";
	int err = collector_open(&c, o, why, sizeof(why));

	if (memory_has_failed() || (err && !why[0])) {
		err = err ? err : -ENOMEM;
		snprintf(why, sizeof(why), "the collector cannot start: %s; nothing was run",
			 memory_has_failed() ? "out of memory" : strerror(-err));
	}
	if (err) {
		control_send(o->control_fd, CONTROL_FAILED, err, 0, why);
	} else {
		err = control_send(o->control_fd, CONTROL_READY, 0, 0, NULL);
		if (!err) /* else launcher and collector would wait for ever */
			collector_follow(&c);
		close(c.feed.fd); /* the recorder ends meanwhile */
	}
	collector_close(&c);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/collector.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "bpfmon/roles/role.h"
#include "measure/reports.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The smaps_rollup of a process may be read with CAP_SYS_PTRACE alone, unless it is the collector's
 * own user's, and so may the path of a program that is moved into the cgroup. The BPF capabilities
 * are kept only where the kernel asks for them again (before 5.19, with
 * kernel.unprivileged_bpf_disabled).
 *
 * Without BPF the collector reads such files of each process: with CAP_SYS_PTRACE, or where there
 * is none, as in a container, with the user and the capabilities of the command.
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

/* What the books report: all of it is of the one job. */
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
	limit_watch_report(&((struct collector *)context)->tenant.job);
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

static void log_what_is_there(const struct collector *c, uint64_t took_ns)
{
	const struct run *run = c->spec->run;

	if (run->is_from_proc)
		log_info("measured from /proc: without BPF; births of processes: %s",
			 tracker_births_missing(&c->books.tracker)
				 ? tracker_births_missing(&c->books.tracker)
				 : "reported by the kernel");
	else
		log_info("the programs in the kernel are loaded and attached after %.1f ms; room "
			 "for %u tasks",
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

/* The last sample has its PSS, or has waited for it long enough. */
static void collector_finish_pss(struct collector *c)
{
	struct pollfd p = { .fd = job_pss_fd(&c->tenant.job), .events = POLLIN };

	while (c->tenant.job.held.is_waiting) {
		if (poll(&p, 1, job_pss_wait(&c->tenant.job, -1)) > 0)
			job_take_pss(&c->tenant.job);
		job_release_overdue(&c->tenant.job);
	}
}

/* There is nothing else to do any more than to wait for the recorder. */
static void collector_close_job(struct collector *c)
{
	uint64_t lost;

	tenant_close_job(&c->tenant);
	lost = tracker_births_lost(&c->books.tracker);
	if (lost)
		log_info("the number of processes is a bound: at least %" PRIu64
			 " events of births and ends were lost",
			 lost);
	collector_finish_pss(c);
	while (!job_close_step(&c->tenant.job))
		feed_flush_whole(&c->tenant.feed, &c->with_recorder);
	feed_flush_whole(&c->tenant.feed, &c->with_recorder);
}

static void collector_follow(struct collector *c)
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
	collector_send_summary(c->spec->control_fd, &c->tenant.job.summary);
}

/* Without BPF: from /proc, if that may stand in for it, and shows what is to be followed. */
static int books_open_any(struct collector *c, enum collector_source source, char *why, size_t size)
{
	struct tracker_options *o = &c->tenant.assignment.spec.tracker;
	char refused[512];
	int err = -EPERM;

	if (source != FROM_PROC)
		err = books_open(&c->books, o, &reports, c, why, size);
	if (!err || source == FROM_BPF || o->cgroup || memory_has_failed() || err == -EMFILE)
		return err; /* or what is lacking is not BPF */
	snprintf(refused, sizeof(refused), "%s", why);
	books_close(&c->books);
	o->proc_launcher = getppid();
	c->tenant.assignment.run.is_from_proc = true;
	err = books_open(&c->books, o, &reports, c, why, size);
	if (!err && source == FROM_BPF_OR_PROC)
		log_warn("%s; measured from /proc instead, which knows less", refused);
	return err;
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
	feeds_add(&c->tenant.job.feeds, &c->tenant.feed);
	log_what_is_there(c, clock_ns(CLOCK_MONOTONIC) - began_ns);
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
		err = control_send(o->control_fd, CONTROL_READY, c.spec->run->is_from_proc, 0,
				   NULL);
		if (!err) /* else launcher and collector would wait for ever */
			collector_follow(&c);
		close(c.tenant.feed.fd); /* the recorder ends meanwhile */
	}
	collector_close(&c);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "measure/tenant.h"

#include "base/clock.h"
#include "base/oom_count.h"
#include "run/writer.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

void tenant_init(struct tenant *t, struct loop *loop)
{
	memset(t, 0, sizeof(*t));
	t->loop = loop;
	t->assignment.spec.stream_fd = t->assignment.spec.span_fd = -1;
	for (int i = 0; i < NR_TENANT_SOURCES; i++)
		t->sources[i].fd = -1;
	job_init(&t->job);
	span_desk_init(&t->desk);
	live_init(&t->live, loop, &t->job);
}

int tenant_start_threads(struct tenant *t, char *why, size_t size)
{
	const struct intake *intake = t->assignment.spec.intake;
	int err;

	t->assignment.intake.discard = &t->loop->discard;
	err = intake ? pushed_start(&t->job.pushed, intake) : 0;

	if (err) {
		snprintf(why, size, "cannot listen to what programs push: %s", strerror(-err));
		return err;
	}
	err = job_start_pss(&t->job);
	if (err)
		snprintf(why, size, "the thread that reads PSS cannot be started: %s",
			 strerror(-err));
	return err;
}

static void handle_feed(void *context, uint32_t events)
{
	struct tenant *t = context;

	if (events & (EPOLLERR | EPOLLHUP)) {
		t->feed.is_broken = true;
		loop_remove(t->loop, &t->sources[TENANT_FEED]);
		t->sources[TENANT_FEED].fd = -1;
	} else {
		feed_flush(&t->feed);
	}
}

static void handle_pushed(void *context, uint32_t events)
{
	(void)context, (void)events; /* tenant_attend() takes what is there after every event */
}

static void handle_pss(void *context, uint32_t events)
{
	(void)events;
	job_take_pss(&((struct tenant *)context)->job);
}

static int source_open(struct tenant *t, enum tenant_source id, int fd, uint32_t events,
		       void (*ready)(void *context, uint32_t events))
{
	t->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = t };
	return fd < 0 ? 0 : loop_add(t->loop, &t->sources[id], events);
}

int tenant_open_sources(struct tenant *t)
{
	int err = source_open(t, TENANT_FEED, t->feed.fd, 0, handle_feed);

	if (!err)
		err = source_open(t, TENANT_PUSHED, t->job.pushed.inbox.wake_fd, EPOLLIN,
				  handle_pushed);
	if (!err)
		err = source_open(t, TENANT_PSS, job_pss_fd(&t->job), EPOLLIN, handle_pss);
	return err;
}

int tenant_open_desk(struct tenant *t)
{
	return span_desk_open(&t->desk, t->assignment.spec.span_fd, t->loop, &t->job, &t->live);
}

static void summary_set_status(struct summary *sum, int status)
{
	sum->has_status = true;
	if (WIFSIGNALED(status))
		sum->signal = WTERMSIG(status);
	else
		sum->exit_code = WEXITSTATUS(status);
}

void tenant_set_incomplete(struct tenant *t, const char *reason)
{
	struct summary *sum = &t->job.summary;

	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", reason);
}

void tenant_set_killed(struct tenant *t, const char *role, const char *effect)
{
	char reason[sizeof(t->job.summary.reason)];

	snprintf(reason, sizeof(reason), "the %s was killed%s%s", role, oom_count_text(), effect);
	tenant_set_incomplete(t, reason);
}

static enum progress progress_after(struct tenant *t, const struct control *c)
{
	const struct job_spec *spec = &t->assignment.spec;

	if (c->type == CONTROL_STOP && !spec->command)
		return OVER; /* the regular end of an attachment */
	if (c->type == CONTROL_ENDED) {
		summary_set_status(&t->job.summary, c->value);
		return spec->wait_tree || t->job.limits.is_ending ? COMMAND_ENDED : OVER;
	}
	tenant_set_incomplete(t, t->progress == RUNNING
					 ? "stopped before the command had ended"
					 : "stopped before the last descendant had ended");
	return OVER;
}

void tenant_obey(struct tenant *t, const struct control *c)
{
	if (c && c->type == CONTROL_KILL) {
		limit_watch_kill(&t->job);
	} else if (c) {
		t->progress = progress_after(t, c);
	} else {
		tenant_set_killed(t, "launcher", "");
		t->progress = OVER;
	}
}

void tenant_note_ticks(struct tenant *t, uint64_t passed)
{
	struct job *job = &t->job;

	if (passed <= 1)
		return;
	job->summary.late_ticks += passed - 1; /* a slow sample, or a loaded machine */
	write_event(&job->json, job->run, clock_ns(CLOCK_MONOTONIC) - job->start_ns, "late_ticks",
		    passed - 1);
	feeds_put(&job->feeds, &job->json);
}

void tenant_watch_feed(struct tenant *t)
{
	bool waits = feed_is_waiting(&t->feed);

	if (waits != t->feed_waits && !t->feed.is_broken && t->sources[TENANT_FEED].fd >= 0)
		loop_change(t->loop, &t->sources[TENANT_FEED], waits ? EPOLLOUT : 0);
	t->feed_waits = waits;
	live_watch(&t->live);
}

void tenant_attend(struct tenant *t)
{
	job_release_overdue(&t->job);
	job_take_pushed(&t->job);
	span_desk_attend(&t->desk);
	limit_watch_attend(&t->job);
}

int tenant_wait(struct tenant *t, int wait_ms)
{
	wait_ms =
		job_pushed_wait(&t->job, job_pss_wait(&t->job, span_desk_wait(&t->desk, wait_ms)));
	return limit_watch_wait(&t->job, wait_ms);
}

bool tenant_may_close_job(struct tenant *t)
{
	return inbox_ask_to_stop(&t->job.pushed.inbox);
}

bool tenant_is_abandoned(const struct tenant *t)
{
	return t->job.pushed.inbox.is_abandoned;
}

void tenant_close_job(struct tenant *t)
{
	span_desk_close(&t->desk);
	job_close(&t->job);
}

void tenant_done(struct tenant *t)
{
	/* to close a socket is not enough while the client has it open, too */
	for (int i = 0; i < NR_TENANT_SOURCES; i++)
		if (t->sources[i].fd >= 0)
			loop_remove(t->loop, &t->sources[i]);
	span_desk_close(&t->desk);
	live_close(&t->live);
	job_done(&t->job);
	feed_done(&t->feed);
	assignment_done(&t->assignment);
}

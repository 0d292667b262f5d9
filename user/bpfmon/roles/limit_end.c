// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/limit_end.h"

#include "base/clock.h"
#include "base/jansson_memory.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/reaped.h"
#include "base/fd.h"
#include "base/procstat.h"
#include "bpfmon/roles/own_cgroup.h"
#include "run/limit.h"
#include "text/format.h"
#include "text/summary_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KILLS_TAKE_NS (10 * NSEC_PER_SEC) /* limit for SIGKILL to take effect */
#define STEP_MS 2
#define LOOK_MS 50
#define NAMED 8 /* processes named in the message about the rest */

bool limit_end_has_begun(const struct limit_end *e)
{
	return e->since_ns;
}

/* Formats the file that sets the limit, which the user may not have in mind; "" if none does. */
static void limit_format_origin(const struct limit_end *e, const struct limit_hit *hit,
				bool is_soft, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; e->origins && i < MAX_LIMITS; i++)
		if (e->origins[i].path && e->limits[i].is_soft == is_soft &&
		    !strcmp(e->limits[i].text, hit->text))
			snprintf(out, size, "; the limit comes from %s:%u", e->origins[i].path,
				 e->origins[i].line);
}

static void limit_report(const struct limit_end *e, const struct control *c)
{
	struct limit_hit hit = { .text = "a limit" };
	json_t *o = jansson_loads(c->text, 0, NULL);
	char grace[FORMAT_BYTES], origin[4600], *text;
	const char *beyond;

	if (!limit_hit_read(&hit, o))
		hit = (struct limit_hit){ .text = "a limit" };
	json_decref(o);
	text = limit_text_make(&hit);
	beyond = text ? text : hit.text;
	limit_format_origin(e, &hit, !c->value, origin, sizeof(origin));
	if (c->value)
		log_warn("limit exceeded: %s: ending the run (SIGKILL after %s)%s", beyond,
			 format_seconds(grace, e->grace_ns), origin);
	else
		log_warn("limit exceeded: %s%s", beyond, origin);
	free(text);
}

static struct limit_target *target_find(struct limit_end *e, pid_t pid, uint64_t serial)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->targets[i].pid == pid && e->targets[i].serial == serial)
			return &e->targets[i];
	return NULL;
}

/*
 * Returns NULL if the process has ended, or has to wait for a later round when others have ended.
 */
static struct limit_target *target_add(struct limit_end *e, pid_t pid, uint64_t serial)
{
	struct limit_target *all = e->targets;
	int fd;

	if (e->nr == e->room) {
		all = memory_reallocarray(all, e->room * 2 + 16, sizeof(*all));
		if (!all)
			return NULL;
		e->targets = all;
		e->room = e->room * 2 + 16;
	}
	fd = pidfd_make(pid);
	if (fd < 0)
		return NULL;
	e->targets[e->nr] = (struct limit_target){ .pid = pid,
						   .serial = serial,
						   .fd = fd,
						   .opened_ns = clock_ns(CLOCK_BOOTTIME),
						   .is_named = true };
	return &e->targets[e->nr++];
}

static void target_signal(struct limit_end *e, struct limit_target *t, int sig)
{
	if (!syscall(SYS_pidfd_send_signal, t->fd, sig, NULL, 0) || errno == ESRCH)
		return;
	t->is_refused = true;
	if (!e->was_refused)
		log_warn("cannot end process %d of another user: %s", t->pid, strerror(errno));
	e->was_refused = true;
}

static void target_end(struct limit_end *e, struct limit_target *t, uint64_t drain_ns, bool is_hard)
{
	t->is_named = true;
	if (drain_ns <= t->opened_ns && t->pid != e->command)
		return; /* it may have ended in between, and its PID been reused */
	if (is_hard) {
		target_signal(e, t, SIGKILL);
	} else if (!t->has_sigterm) {
		t->has_sigterm = true;
		target_signal(e, t, SIGTERM);
		target_signal(e, t, SIGCONT); /* a stopped process could not handle SIGTERM */
	}
}

/* Processes that fork faster than they are found: see limit_end.h. */
static void limit_kill_all(struct limit_end *e, bool has_number)
{
	if (e->keeper_fd >= 0)
		own_cgroup_kill(e->keeper_fd);
	if (has_number && !e->has_sent_kill)
		e->has_sent_kill = !control_send(e->collector_fd, CONTROL_KILL, 0, 0, NULL);
}

static void limit_drop_unnamed(struct limit_end *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->nr; i++) {
		if (!e->targets[i].is_named) {
			close(e->targets[i].fd);
			continue;
		}
		e->targets[kept] = e->targets[i];
		e->targets[kept++].is_named = false;
	}
	e->nr = kept;
}

static void limit_end_processes(struct limit_end *e, const char *text, uint64_t drain_ns,
				bool is_hard)
{
	uint64_t serial;
	pid_t pid;
	int n;

	for (; sscanf(text, "%d:%" SCNx64 " %n", &pid, &serial, &n) == 2; text += n) {
		struct limit_target *t = target_find(e, pid, serial);

		if (!t && pid > 1)
			t = target_add(e, pid, serial);
		if (t)
			target_end(e, t, drain_ns, is_hard);
		if (t && t->is_refused)
			e->has_refused = true;
		else
			e->may_end_more = true;
	}
}

static bool limit_end_is_hard(struct limit_end *e)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!e->killed_ns && (e->is_urgent || now_ns - e->since_ns >= e->grace_ns))
		e->killed_ns = now_ns;
	e->has_given_up |= e->killed_ns && now_ns - e->killed_ns > KILLS_TAKE_NS;
	return e->killed_ns;
}

/* Prints some of the processes of the last round that still exist. */
static void limit_end_report_left(const struct limit_end *e)
{
	char text[NAMED * 64] = "";
	struct proc_stat s;
	size_t n = 0, nr = 0;

	for (size_t i = 0; i < e->nr; i++) {
		if (proc_stat_read(e->targets[i].pid, &s) || strchr("ZX", s.state))
			continue;
		if (nr++ < NAMED)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d (%s)",
					      nr > 1 ? ", " : "", e->targets[i].pid, s.comm);
	}
	if (nr)
		log_warn("some processes of the run have not ended; left running: %s%s", text,
			 nr > NAMED ? " and more" : "");
}

#define STOPPING_NS                                                                                \
	(500 *                                                                                     \
	 NSEC_PER_MSEC) /* processes that do not stop in that time are killed while they run */

struct swept {
	pid_t pid;
	unsigned threads;
};

struct sweep {
	const struct own_children *own;
	int signal;
	struct swept *all; /* owned; the launcher, then each process that was found */
	size_t nr, room;
	size_t at;      /* index of the process whose children are visited */
	size_t running; /* found processes that are neither stopped nor dead */
	size_t alive;
};

/* Returns false if out of memory; its descendants are then found when it has ended. */
static bool sweep_put(struct sweep *s, pid_t pid, unsigned threads)
{
	size_t room = s->room ? s->room * 2 : 256;
	struct swept *all = s->all;

	if (s->nr == s->room) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all)
			return false;
		s->all = all;
		s->room = room;
	}
	all[s->nr++] = (struct swept){ pid, threads };
	return true;
}

/*
 * @fd was opened before this check: if the process has ended since and its PID is reused, the
 * signal reaches nothing. If its parent has ended in between, the launcher is its new parent.
 */
static void swept_signal(struct sweep *s, pid_t pid, int fd)
{
	struct proc_stat stat;

	if (proc_stat_read(pid, &stat) ||
	    (stat.parent != s->all[s->at].pid && stat.parent != s->all[0].pid))
		return;
	if (strchr("ZX", stat.state) == NULL) {
		s->alive++;
		s->running += !strchr("Tt", stat.state);
		if (s->signal == SIGKILL || !strchr("Tt", stat.state))
			syscall(SYS_pidfd_send_signal, fd, s->signal, NULL, 0);
	}
	sweep_put(s, pid, stat.threads);
}

static void sweep_visit(void *context, pid_t pid)
{
	struct sweep *s = context;
	int fd;

	if (!s->at && own_children_has(s->own, pid))
		return;
	fd = pidfd_make(pid);
	if (fd < 0)
		return;
	swept_signal(s, pid, fd);
	close(fd);
}

/* Signals each descendant before visiting its children. */
static void sweep_pass(struct sweep *s, int sig)
{
	s->signal = sig;
	s->nr = s->running = s->alive = 0;
	if (!sweep_put(s, getpid(), 1))
		return;
	for (s->at = 0; s->at < s->nr; s->at++) {
		const struct swept one = s->all[s->at];

		proc_each_child(one.pid, one.threads, sweep_visit, s);
	}
}

/*
 * Kills all descendants of the launcher in a run without BPF, where the launcher is their subreaper
 * and /proc shows their lineage. Stops them pass by pass until no running one is found, because a
 * stopped process cannot fork; then sends SIGKILL. @own are children of the launcher that are
 * spared with their descendants. Returns the number of processes alive in the last pass. Takes up
 * to half a second and the time of two passes.
 */
static size_t sweep_run(const struct own_children *own)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + STOPPING_NS;
	struct sweep s = { .own = own };

	do
		sweep_pass(&s, SIGSTOP);
	while (s.running && clock_ns(CLOCK_MONOTONIC) < until_ns);
	if (s.alive)
		sweep_pass(&s, SIGKILL);
	free(s.all);
	return s.alive;
}

void limit_end_finish(struct limit_end *e)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	char took[FORMAT_BYTES];

	if (!e->since_ns || e->is_over)
		return;
	e->is_over = true;
	/* the collector, which polls /proc, may have missed short-lived processes */
	while (e->spared && sweep_run(e->spared) &&
	       clock_ns(CLOCK_MONOTONIC) - now_ns < KILLS_TAKE_NS)
		poll(NULL, 0, STEP_MS);
	format_seconds(took, clock_ns(CLOCK_MONOTONIC) - e->since_ns);
	log_warn("ended the run in %s: %" PRIu64 " process%s%s", took, e->nr_ended,
		 e->nr_ended == 1 ? "" : "es", e->killed_ns ? ", the last of them by SIGKILL" : "");
	if (e->has_given_up) /* else what still exists has passed its last event */
		limit_end_report_left(e);
}

static void limit_end_take_living(struct limit_end *e, const struct control *c)
{
	const bool is_hard = limit_end_is_hard(e);

	if (c->value == LIVING_SOME) {
		limit_end_processes(e, c->text, c->when_ns, is_hard);
		return;
	}
	sscanf(c->text, "%" SCNu64, &e->nr_ended);
	if (c->value == LIVING_OVER) {
		limit_end_finish(e);
		return;
	}
	if (is_hard)
		limit_kill_all(e, *c->text); /* an agent of an earlier version sends no number */
	e->has_given_up |= is_hard && e->has_refused && !e->may_end_more;
	e->has_refused = e->may_end_more = false;
	limit_drop_unnamed(e);
}

static void limit_end_begin(struct limit_end *e)
{
	struct rlimit files; /* one is used per process to end */

	e->since_ns = clock_ns(CLOCK_MONOTONIC);
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

void limit_end_handle_message(struct limit_end *e, const struct control *c)
{
	if (c->type == CONTROL_LIMIT) {
		limit_report(e, c);
		if (c->value && !e->since_ns)
			limit_end_begin(e);
	}
	if (c->type == CONTROL_LIVING && e->since_ns)
		limit_end_take_living(e, c);
}

void limit_end_advance(struct limit_end *e, bool has_collector)
{
	if (!e->since_ns || !limit_end_is_hard(e) || e->is_over)
		return;
	if (e->spared)
		sweep_run(e->spared);
	else if (!has_collector && e->command) /* its descendants are not known */
		kill(e->command, SIGKILL);
}

int limit_end_wait(const struct limit_end *e, int wait_ms)
{
	return e->since_ns && (wait_ms < 0 || wait_ms > LOOK_MS) ? LOOK_MS : wait_ms;
}

bool limit_end_skip_grace(struct limit_end *e)
{
	if (!e->since_ns || e->is_over || e->has_given_up)
		return false;
	if (!e->is_urgent && !e->killed_ns)
		log_warn("second signal received; sending SIGKILL now");
	e->is_urgent = true;
	return true;
}

void limit_end_done(struct limit_end *e)
{
	for (size_t i = 0; i < e->nr; i++)
		close(e->targets[i].fd);
	free(e->targets);
	e->targets = NULL;
	e->nr = e->room = 0;
}

#define ECHO_NS (50 * NSEC_PER_MSEC)

static bool signal_is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool end_request_matches(const struct signalfd_siginfo *si)
{
	switch (si->ssi_signo) {
	case SIGTERM:
		return true;
	case SIGHUP:
		return !signal_is_ignored(SIGHUP);
	case SIGINT:
	case SIGQUIT: /* sent by kill(1) it counts even if ignored */
		return si->ssi_code <= 0 || !signal_is_ignored((int)si->ssi_signo);
	default:
		return false;
	}
}

/* timeout(1) and others signal their child and then its whole group: that is one request. */
static bool end_request_is_echo(const struct end_requests *r, const struct signalfd_siginfo *si,
				uint64_t now_ns)
{
	return si->ssi_code <= 0 && r->by == (pid_t)si->ssi_pid &&
	       r->signal == (int)si->ssi_signo && now_ns - r->at_ns < ECHO_NS;
}

bool end_request_count(struct end_requests *r, const struct signalfd_siginfo *si)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_new = !end_request_is_echo(r, si, now_ns);

	r->nr += is_new;
	r->signal = (int)si->ssi_signo;
	r->by = (pid_t)si->ssi_pid;
	r->at_ns = now_ns;
	return is_new;
}

int end_request_read(int signal_fd)
{
	struct signalfd_siginfo si;

	while (read(signal_fd, &si, sizeof(si)) == sizeof(si))
		if (end_request_matches(&si))
			return (int)si.ssi_signo;
	return 0;
}

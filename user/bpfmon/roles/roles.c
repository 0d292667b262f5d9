// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/roles.h"

#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/oom.h"
#include "base/stack.h"
#include "base/user.h"
#include "base/fd.h"
#include "base/seccomp.h"
#include "bpfmon/roles/limit_end.h"
#include "bpfmon/roles/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MOST_NS                                                                               \
	(2ULL * AGENT_LOOK_MS *                                                                    \
	 NSEC_PER_MSEC) /* limit of the time that one call of roles_watch_agent() counts */
#define QUIET_NS (2 * NSEC_PER_SEC) /* of silence until an agent is pinged */

/* A role has a session of its own, so that signals of the terminal reach only the command. */
static void role_become(const sigset_t *mask)
{
	static const int ignored[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				       SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ };

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void descriptors_close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void recorder_role_run(struct launch_options *options, int control_fd, int stream_fd)
{
	const uint64_t files = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH |
			       1ULL << CAP_FOWNER | 1ULL << CAP_CHOWN;
	struct recorder_options *o = &options->recorder;
	const int score_fd = oom_score_open();
	int err = 0;

	if (options->intake)
		intake_close(options->intake);
	if (options->own_cgroup)
		close(options->cgroup_keeper_fd);
	if (options->record_as) {
		privilege_bound(0);
		err = user_become(options->record_as);
	}
	if (!err) /* root may write the files of all users, and do nothing else */
		err = privilege_keep(options->record_as ? 0 : files);
	if (err) {
		control_send(control_fd, CONTROL_FAILED, err, 0,
			     "the recorder could not drop its privileges");
		_exit(1);
	}
	oom_score_unprotect(score_fd); /* the commands of events are the user's */
	event_command_start(&o->on_stall);
	event_command_start(&o->on_limit);
	for (size_t i = 0; i < o->nr_outputs; i++)
		if (o->outputs[i].format == &influx_observer)
			pusher_start(&o->outputs[i].pusher, o->outputs[i].path);
	oom_score_protect_again(score_fd);
	if (score_fd >= 0)
		close(score_fd);
	seccomp_install(SECCOMP_RECORDER);
	o->control_fd = control_fd;
	o->stream_fd = stream_fd;
	_exit(recorder_run(o) ? 1 : 0);
}

static void collector_role_run(struct launch_options *options, pid_t recorder, int control_fd)
{
	struct collector_options *o = &options->collector;

	if (options->intake)
		intake_close(options->intake); /* it gets the sockets with the request */
	o->control_fd = control_fd;
	o->recorder = recorder;
	_exit(collector_run(o) ? 1 : 0);
}

int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask)
{
	const bool is_remote = o->agent_fd >= 0;
	int c[2] = { o->agent_fd, -1 }, r[2], stream[2], err = 0;

	*roles = (struct roles){
		.collector = { .name = is_remote ? "agent" : "collector",
			       .control_fd = -1,
			       .is_remote = is_remote },
		.recorder = { .name = "recorder", .control_fd = -1 },
		.stream_fd = -1,
	};
	o->recorder.is_of_agent = is_remote;
	last_summary_init(&roles->summary, -1, o->recorder.quiet);
	roles->line.fd = -1;
	o->recorder.live = o->recorder.live && status_line_open(&roles->line);
	if ((!is_remote && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c)) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, r) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream))
		return -errno;
	oom_count_begin();
	oom_score_protect(); /* the command's process exists already, and keeps its score */
	roles->recorder.pid = fork();
	if (!roles->recorder.pid) {
		role_become(mask);
		descriptors_close_all((int[]){ c[0], c[1], r[0], stream[0], signal_fd,
					       command->go_fd, command->status_fd },
				      7);
		recorder_role_run(o, r[1], stream[1]);
	}
	if (roles->recorder.pid < 0) {
		err = -errno;
		roles->recorder.pid = 0;
		descriptors_close_all((int[]){ c[0], c[1], r[0], r[1], stream[0], stream[1] }, 6);
		return err;
	}
	roles->collector.pid = is_remote ? -1 : fork();
	if (!roles->collector.pid) {
		role_become(mask);
		descriptors_close_all((int[]){ c[0], r[0], r[1], stream[0], stream[1], signal_fd,
					       command->go_fd, command->status_fd },
				      8);
		collector_role_run(o, roles->recorder.pid, c[1]);
	}
	if (roles->collector.pid < 0) {
		err = is_remote ? 0 : -errno;
		roles->collector.pid = 0;
	}
	descriptors_close_all((int[]){ c[1], r[1], stream[1] }, 3);
	if (err) { /* no collector will write it: the recorder is to see its end */
		close(stream[0]);
		stream[0] = -1;
	}
	roles->stream_fd = stream[0];
	roles->summary.fd = roles->collector.control_fd = c[0];
	roles->recorder.control_fd = r[0];
	roles->line.fd = o->recorder.live ? r[0] : -1;
	return err;
}

void role_send(const struct role *role, enum control_type type, int value, uint64_t when_ns)
{
	role_send_text(role, type, value, when_ns, NULL);
}

void role_send_text(const struct role *role, enum control_type type, int value, uint64_t when_ns,
		    const char *text)
{
	int err = role->pid || role->is_remote
			  ? control_send(role->control_fd, type, value, when_ns, text)
			  : 0;

	if (!err || err == -EPIPE || err == -ECONNRESET) /* the role has ended */
		return;
	log_warn("cannot reach the %s: %s; the data is incomplete, the command continues",
		 role->name, strerror(-err));
	shutdown(role->control_fd, SHUT_RDWR); /* which ends the role */
}

static void role_note_end(struct role *role, int status)
{
	role->pid = 0;
	if (WIFSIGNALED(status))
		log_warn("the %s was killed by signal %d%s; the data is incomplete, %s", role->name,
			 WTERMSIG(status), WTERMSIG(status) == SIGKILL ? oom_count_text() : "",
			 "the command continues");
}

void roles_note_end(struct roles *roles, pid_t pid, int status)
{
	if (pid == roles->collector.pid)
		role_note_end(&roles->collector, status);
	else if (pid == roles->recorder.pid)
		role_note_end(&roles->recorder, status);
}

/* While this process is stopped, no time counts. */
void roles_watch_agent(struct roles *roles)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC),
		       since_ns = now_ns - roles->agent.looked_ns;

	roles->agent.looked_ns = now_ns;
	if (!roles->collector.is_remote ||
	    roles->summary.fd < 0) /* the stream ends with the agent */
		return;
	if (roles->agent.nr_heard != roles->summary.nr_received) {
		roles->agent.nr_heard = roles->summary.nr_received;
		roles->agent.quiet_ns = 0;
		roles->agent.is_pinged = false;
		return;
	}
	roles->agent.quiet_ns += since_ns < LOOK_MOST_NS ? since_ns : LOOK_MOST_NS;
	if (!roles->agent.is_pinged && roles->agent.quiet_ns > QUIET_NS) {
		role_send(&roles->collector, CONTROL_PING, 0, 0);
		roles->agent.is_pinged = true;
		roles->agent.quiet_ns = 0;
	}
	if (roles->agent.quiet_ns < AGENT_PATIENCE_SECONDS * NSEC_PER_SEC)
		return;
	log_error("%s; data that it has not sent is missing in the run", AGENT_HANGS);
	roles->agent.hangs = true;
}

enum step { STEP_CGROUP, STEP_USER, STEP_EXEC };

struct failure {
	int err;
	enum step step;
};

static void spawn_report(int fd, enum step step, int err)
{
	struct failure f = { .err = err, .step = step };
	ssize_t n = write(fd, &f, sizeof(f));

	_exit(n == sizeof(f) ? EXIT_BPFMON : EXIT_BPFMON + 1);
}

static int streams_move(const int *streams)
{
	for (int i = STDIN_FILENO; streams && i <= STDERR_FILENO; i++)
		if (streams[i] != i && dup2(streams[i], i) < 0)
			return -errno;
	return 0;
}

static void spawn_run_child(const int *streams, char *const *argv, const sigset_t *mask,
			    const struct sigaction *children, const struct cgroup *in,
			    const struct user *as, int go, int status)
{
	/* now, while programs load: all usage from waiting for @go on is the command's */
	enum step step = STEP_CGROUP;
	int err = in ? cgroup_join(in) : 0;
	ssize_t n;
	char byte;

	if (as && !err) {
		step = STEP_USER;
		err = user_become(as);
		if (!err)
			err = user_set_environment(as);
	}
	/* not a message: the rest of send() would be the command's */
	shutdown(go, SHUT_WR);
	do
		n = recv(go, &byte, 1,
			 MSG_PEEK); /* counted neither as a read nor as socket traffic */
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_BPFMON);
	if (err)
		spawn_report(status, step, err);
	sigaction(SIGCHLD, children, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	err = streams_move(streams);
	if (err)
		spawn_report(status, STEP_EXEC, err);
	stack_restore_limit();
	execvp(argv[0], argv);
	spawn_report(status, STEP_EXEC, -errno);
}

int spawn_fork(struct spawn *s, char *const *argv, const sigset_t *mask,
	       const struct sigaction *children, const struct cgroup *in, const struct user *as)
{
	int go[2], status[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (pipe2(status, O_CLOEXEC)) {
		int err = -errno;

		close(go[0]);
		close(go[1]);
		return err;
	}
	s->pid = fork();
	if (!s->pid) {
		close(go[1]);
		close(status[0]);
		spawn_run_child(s->streams, argv, mask, children, in, as, go[0], status[1]);
	}
	close(go[0]);
	close(status[1]);
	s->go_fd = go[1];
	s->status_fd = status[0];
	if (s->pid > 0)
		return 0;
	close(s->go_fd);
	close(s->status_fd);
	return -EAGAIN;
}

static void spawn_close_pipes(struct spawn *s)
{
	close(s->go_fd);
	close(s->status_fd);
	s->go_fd = s->status_fd = -1;
}

void spawn_wait_until_prepared(const struct spawn *s)
{
	char byte;

	while (recv(s->go_fd, &byte, 1, 0) < 0 && errno == EINTR)
		;
}

void spawn_go(struct spawn *s)
{
	s->has_gone = send(s->go_fd, "", 1, MSG_NOSIGNAL) == 1;
}

int spawn_result(struct spawn *s, const char **step)
{
	static const char *const steps[] = {
		[STEP_CGROUP] = "enter the new cgroup with",
		[STEP_USER] = "become the user for",
		[STEP_EXEC] = "execute",
	};
	struct failure f = { 0 };
	ssize_t n;

	if (!s->has_gone) {
		spawn_close_pipes(s);
		return -EIO;
	}
	do
		n = read(s->status_fd, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	spawn_close_pipes(s);
	if (!n)
		return 0; /* the pipe was closed by the exec */
	if (n != sizeof(f))
		return -EIO;
	*step = steps[f.step];
	s->is_ready = f.step == STEP_EXEC;
	return f.err;
}

void spawn_cancel(struct spawn *s)
{
	spawn_close_pipes(s);
	kill(s->pid, SIGKILL); /* the child may be stopped */
}

void spawn_wait(struct spawn *s)
{
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

#define EXEC_MS 1000 /* for the exec, before signals are read */

void streams_unblock(void)
{
	reopen_for_writing(STDOUT_FILENO);
	reopen_for_writing(STDERR_FILENO);
	log_limit_waits();
}

/*
 * Receives the message that the role is ready, and its value. Returns a negative errno after a
 * message if it is not; @value is 1 then if the command is to run unmeasured.
 */
static int role_is_ready(const struct role *role, int *value)
{
	struct control m;

	if (control_receive(role->control_fd, &m) != 1) {
		log_error("the %s ended before it was ready; the command was not run", role->name);
		return -ECHILD;
	}
	*value = m.value;
	if (m.type == CONTROL_READY)
		return 0;
	if (m.type == CONTROL_UNAVAILABLE)
		log_warn("running the command without measuring it: %s", m.text);
	else
		log_error("%s", m.text);
	*value = m.type == CONTROL_UNAVAILABLE;
	return m.value ? m.value : -EIO;
}

/*
 * There is no timeout for a collector of this run's own, which may take long to load programs: its
 * end is seen.
 */
static int role_poll(struct pollfd p[3], bool has_agent)
{
	int n = has_agent ? agent_socket_poll(p, 3) : poll(p, 3, -1);

	for (int i = 0; n < 0 && i < 3; i++)
		p[i].revents = 0;
	if (n)
		return 0;
	log_error("%s; the command was not run", AGENT_HANGS);
	return -ETIMEDOUT;
}

int roles_wait_until_ready(struct roles *roles, pid_t command, int signal_fd, int *sig)
{
	const struct role *const of[] = { &roles->recorder, &roles->collector };
	int value = 0;
	struct pollfd p[] = {
		{ .fd = roles->recorder.control_fd, .events = POLLIN },
		{ .fd = roles->collector.control_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	int err = 0;

	*sig = 0;
	while (!err && (p[0].fd >= 0 || p[1].fd >= 0)) {
		err = role_poll(p, roles->collector.is_remote && p[1].fd >= 0);
		for (int i = 0; !err && i < 2; i++) {
			if (!p[i].revents)
				continue;
			err = role_is_ready(of[i], &value);
			roles->is_unmeasured = err && value;
			/* the value of an agent is the version of requests that it supports */
			roles->wants_reaped |= !err && value && !roles->collector.is_remote;
			p[i].fd = -1; /* then poll() sets its revents to 0 */
		}
		if (!err && p[2].revents && (*sig = end_request_read(signal_fd)))
			err = -EINTR;
	}
	/* makes orphans of the command children of this process, which reaps them */
	if (!err && roles->wants_reaped && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		err = -errno;
	if (!err && roles->wants_reaped)
		err = own_children_read(&roles->own, getpid(), command);
	return err;
}

void command_wait_for_exec(const struct spawn *command, int signal_fd)
{
	struct pollfd p[] = {
		{ .fd = command->status_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	int sig, nr = 0;

	if (!command->has_gone ||
	    poll(p, 1, EXEC_MS) > 0) /* signals that come meanwhile are forwarded later */
		return;
	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			return;
		sig = end_request_read(signal_fd);
		if (sig)
			kill(command->pid, nr++ ? SIGKILL : sig);
	}
}

void launcher_drop_rights(void)
{
	privilege_leave_root(1ULL << CAP_KILL);
	seccomp_install(SECCOMP_LAUNCHER);
}

#define STEP_MS 2
#define SUMMARY_MS 500 /* for the collector to send the summary in place of the recorder */
#define DEATH_MS 1000  /* for the kernel; a process that it cannot kill is left to it */

static bool role_is_there(const struct role *r)
{
	return r->pid > 0;
}

void roles_report_awaited(const struct roles *roles)
{
	const char *rest = "; a third signal ends bpfmon without waiting";

	if (role_is_there(&roles->recorder))
		log_warn("still waiting for the recorder (process %d) to write its outputs%s",
			 roles->recorder.pid, rest);
	else if (role_is_there(&roles->collector))
		log_warn("still waiting for the collector (process %d) to close the run%s",
			 roles->collector.pid, rest);
}

static void role_let_go(struct role *r)
{
	if (r->control_fd >= 0)
		close(r->control_fd);
	r->control_fd = -1;
}

/* The collector sees that its launcher ends, but can still send the summary. */
static void collector_let_go(struct roles *roles)
{
	if (roles->collector.control_fd >= 0)
		shutdown(roles->collector.control_fd, SHUT_WR);
}

static bool role_has_ended(struct role *r)
{
	if (role_is_there(r) && waitpid(r->pid, NULL, WNOHANG)) /* or it was reaped elsewhere */
		r->pid = 0;
	return !role_is_there(r);
}

static bool roles_wait_for_both(struct roles *roles, int ms)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * NSEC_PER_MSEC;

	for (;;) {
		bool recorder = role_has_ended(&roles->recorder),
		     collector = role_has_ended(&roles->collector);

		last_summary_advance(&roles->summary);
		if (recorder && collector)
			return true;
		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return false;
		poll(NULL, 0, STEP_MS);
	}
}

static void role_kill(const struct role *r, const char *loss)
{
	if (!role_is_there(r))
		return;
	log_warn("the %s (process %d) did not end and was killed: %s", r->name, r->pid, loss);
	kill(r->pid, SIGKILL);
}

static void roles_end_both(struct roles *roles, int grace_ms)
{
	if (roles_wait_for_both(roles, grace_ms))
		return;
	role_kill(&roles->recorder, "data that it had not written is lost");
	if (roles_wait_for_both(roles, SUMMARY_MS))
		return;
	role_kill(&roles->collector, "the data is incomplete");
	roles_wait_for_both(roles, DEATH_MS);
}

void roles_stop(struct roles *roles, int grace_ms)
{
	if (roles->agent.hangs) /* the recorder waits for the agent, too */
		grace_ms += (int)(PATIENCE_WITH_COLLECTOR_NS / NSEC_PER_MSEC);
	status_line_release(&roles->line);
	collector_let_go(roles);
	role_let_go(&roles->recorder);
	roles_end_both(roles, grace_ms);
	last_summary_done(&roles->summary);
	role_let_go(&roles->collector);
}

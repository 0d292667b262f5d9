// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/roles.h"

#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/oom_count.h"
#include "base/oom_score.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "bpfmon/roles/event_command.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MOST_NS (2ULL * AGENT_LOOK_MS * NSEC_PER_MSEC) /* that one look counts */
#define QUIET_NS (2 * NSEC_PER_SEC) /* until an agent is asked whether it is there */

/* A role has a session of its own: what the terminal sends is for the command. */
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
	if (!err) /* root's files are root's to write, nothing else */
		err = privilege_keep(options->record_as ? 0 : files);
	if (err) {
		control_send(control_fd, CONTROL_FAILED, err, 0,
			     "the recorder could not give up its privileges");
		_exit(1);
	}
	oom_score_unprotect(score_fd); /* what these execute is the user's */
	event_command_start(&o->on_stall);
	event_command_start(&o->on_limit);
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
		intake_close(options->intake); /* it gets its sockets with the request */
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
	oom_score_protect(); /* the command's process is there already, and keeps what it has */
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

	if (!err || err == -EPIPE || err == -ECONNRESET) /* it has ended */
		return;
	log_warn("cannot reach the %s: %s; the account is incomplete, the command goes on",
		 role->name, strerror(-err));
	shutdown(role->control_fd, SHUT_RDWR); /* which ends it */
}

static void role_note_end(struct role *role, int status)
{
	role->pid = 0;
	if (WIFSIGNALED(status))
		log_warn("the %s was killed by signal %d%s; the account is incomplete, %s",
			 role->name, WTERMSIG(status),
			 WTERMSIG(status) == SIGKILL ? oom_count_text() : "",
			 "the command goes on");
}

void roles_note_end(struct roles *roles, pid_t pid, int status)
{
	if (pid == roles->collector.pid)
		role_note_end(&roles->collector, status);
	else if (pid == roles->recorder.pid)
		role_note_end(&roles->recorder, status);
}

/* While this process does not run either, no time passes. */
void roles_watch_agent(struct roles *roles)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC),
		       since_ns = now_ns - roles->agent.looked_ns;

	roles->agent.looked_ns = now_ns;
	if (!roles->collector.is_remote || roles->summary.fd < 0) /* the stream ends with it */
		return;
	if (roles->agent.nr_heard != roles->summary.nr_received) {
		roles->agent.nr_heard = roles->summary.nr_received;
		roles->agent.quiet_ns = 0;
		roles->agent.is_asked = false;
		return;
	}
	roles->agent.quiet_ns += since_ns < LOOK_MOST_NS ? since_ns : LOOK_MOST_NS;
	if (!roles->agent.is_asked && roles->agent.quiet_ns > QUIET_NS) {
		role_send(&roles->collector, CONTROL_PING, 0, 0);
		roles->agent.is_asked = true;
		roles->agent.quiet_ns = 0;
	}
	if (roles->agent.quiet_ns < AGENT_PATIENCE_SECONDS * NSEC_PER_SEC)
		return;
	log_error("%s; the run ends without what it has not sent", AGENT_HANGS);
	roles->agent.hangs = true;
}

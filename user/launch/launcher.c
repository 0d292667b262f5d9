// SPDX-License-Identifier: BSD-2-Clause
#include "launch/launcher.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "launch/describe.h"
#include "launch/own_cgroup.h"
#include "launch/rights.h"
#include "launch/roles.h"
#include "launch/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#define ECHO_NS (50 * NSEC_PER_MSEC)
#define EXIT_BPFMON 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct launcher {
	struct launch_options *options;
	struct spawn command;
	struct own_cgroup cgroup; /* of the command; only where it has its own */
	struct intake_sockets intake;
	struct roles roles;
	struct description description;
	int signal_fd;
	bool command_ended;
	int command_status;
	unsigned terminations; /* SIGTERM */
	pid_t last_terminator;
	uint64_t last_termination_ns;
	bool is_detached;     /* told to leave the command running */
	bool has_stopped_too; /* with the command; what continues us is for both */
};

/* 0-2 are never given to descriptors of ours, which the command would take for its own. */
static int plug_standard_descriptors(bool *stdout_is_closed)
{
	int fd;

	*stdout_is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The command has stopped or has been continued; or some child has ended. */
static void reap(struct launcher *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == l->command.pid && WIFSTOPPED(status)) {
			l->has_stopped_too |= signals_stop_too(WSTOPSIG(status));
		} else if (pid == l->command.pid) {
			l->command_ended = true;
			l->command_status = status;
			control_send(l->roles.collector.control_fd, CONTROL_ENDED, status, 0, NULL);
		} else if (WIFSTOPPED(status)) {
			continue; /* a role that somebody has stopped */
		} else if (pid == l->roles.collector.pid) {
			role_ended(&l->roles.collector, status);
		} else if (pid == l->roles.recorder.pid) {
			role_ended(&l->roles.recorder, status);
		}
	}
}

static void detach(struct launcher *l)
{
	l->is_detached = true;
	control_send(l->roles.collector.control_fd, CONTROL_STOP, 0, 0, NULL);
}

/* timeout(1) and others signal their child and at once the whole group: that is one word. */
static bool is_echo(struct launcher *l, const struct signalfd_siginfo *si)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool is = l->terminations && l->last_terminator == (pid_t)si->ssi_pid &&
		  now - l->last_termination_ns < ECHO_NS;

	l->last_terminator = (pid_t)si->ssi_pid;
	l->last_termination_ns = now;
	return is;
}

/* Since it was last seen to stop: a shell continues the whole job, and a key may have stopped it
 * again before we run. */
static bool has_the_command_moved(const struct launcher *l)
{
	siginfo_t news = { 0 };

	return waitid(P_PID, (id_t)l->command.pid, &news,
		      WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) ||
	       news.si_pid;
}

static void hear_signal(struct launcher *l, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;

	if (sig == SIGCHLD)
		return;
	if (l->command_ended) { /* only its descendants, or the roles, are waited for */
		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
			detach(l);
		return;
	}
	if (sig == SIGCONT && l->has_stopped_too) { /* we go on, so shall it */
		l->has_stopped_too = false;
		if (!has_the_command_moved(l))
			kill(l->command.pid, SIGCONT);
		return;
	}
	if (!signals_is_to_forward(si, l->command.pid))
		return;
	if (sig == SIGTERM && is_echo(l, si))
		return;
	if (sig == SIGTERM && ++l->terminations >= 2) {
		detach(l);
		return;
	}
	kill(l->command.pid, sig);
}

/* A role that does not end though it was told to: asked for once more, we go. */
static bool is_over(const struct launcher *l)
{
	if (l->terminations >= 3)
		return true;
	return (l->command_ended || l->is_detached) && !l->roles.collector.pid &&
	       !l->roles.recorder.pid;
}

static void attend(struct launcher *l)
{
	struct pollfd p = { .fd = l->signal_fd, .events = POLLIN };
	struct signalfd_siginfo si;

	while (!is_over(l)) {
		if (poll(&p, 1, -1) < 0)
			continue;
		reap(l); /* first: a stop of ours takes the SIGCONT before it off the queue */
		while (read(l->signal_fd, &si, sizeof(si)) == sizeof(si)) {
			hear_signal(l, &si);
			reap(l);
		}
	}
}

static int finish(const struct launcher *l)
{
	if (!l->command_ended) {
		log_warn("told twice to end: the command (process %d) is left running",
			 l->command.pid);
		signals_die(SIGTERM);
		return 128 + SIGTERM;
	}
	if (!WIFSIGNALED(l->command_status))
		return WEXITSTATUS(l->command_status);
	signals_die(WTERMSIG(l->command_status));
	return 128 + WTERMSIG(l->command_status);
}

static int start(struct launcher *l)
{
	const char *step = "start";
	uint64_t now;
	int err;

	if (role_wait_until_ready(&l->roles.recorder) ||
	    role_wait_until_ready(&l->roles.collector)) {
		spawn_cancel(&l->command);
		return EXIT_BPFMON;
	}
	log_info("the command is process %d%s%s", l->command.pid,
		 l->options->run_as ? ", of user " : "",
		 l->options->run_as ? l->options->run_as->name : "");
	now = clock_ns(CLOCK_MONOTONIC);
	err = spawn_exec(&l->command, &step);
	if (!err) {
		describe_end(&l->description);
		control_send(l->roles.collector.control_fd, CONTROL_START, 0, now, NULL);
		return 0;
	}
	while (waitpid(l->command.pid, NULL, 0) < 0 && errno == EINTR)
		;
	log_error("cannot %s '%s': %s", step, l->options->argv[0], strerror(-err));
	if (!l->command.is_ready)
		return EXIT_BPFMON;
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int fork_command(struct launcher *l, sigset_t *mask)
{
	struct sigaction children = { .sa_handler = SIG_DFL }, inherited;
	struct launch_options *o = l->options;
	int err;

	/* ignored, the kernel would reap our children before we know how they ended */
	sigaction(SIGCHLD, &children, &inherited);
	l->signal_fd = signals_open(mask);
	err = l->signal_fd < 0 ? -errno
			       : spawn_fork(&l->command, o->argv, mask, &inherited,
					    o->own_cgroup ? &l->cgroup.cg : NULL, o->run_as);
	if (err)
		log_error("cannot prepare the command's process: %s", strerror(-err));
	return err;
}

/* Until the command runs. 0, or the exit status. */
static int prepare(struct launcher *l)
{
	sigset_t mask;
	int err, code;

	if (fork_command(l, &mask))
		return EXIT_BPFMON;
	if (l->options->own_cgroup) {
		l->options->collector.cgroup = &l->cgroup.cg;
		l->options->cgroup_keeper_fd = l->cgroup.keeper_fd;
	}
	describe_begin(&l->description, l->options);
	err = roles_fork(&l->roles, l->options, &l->command, l->signal_fd, &mask);
	intake_hand_over(&l->intake);
	if (err) {
		log_error("cannot start collector and recorder: %s", strerror(-err));
		spawn_cancel(&l->command);
		code = EXIT_BPFMON;
	} else {
		describe(&l->description, l->options);
		rights_of_launcher(true);
		code = start(l);
	}
	if (code) {
		role_reap(&l->roles.collector);
		role_reap(&l->roles.recorder);
	}
	return code;
}

static int open_intake(struct launcher *l)
{
	struct launch_options *o = l->options;
	int err = intake_open(&l->intake, &o->push, o->run_as);

	o->intake = &l->intake;
	o->collector.intake = l->intake.is_on ? &l->intake.intake : NULL;
	return err;
}

int launch(struct launch_options *o)
{
	struct launcher l = { .options = o };
	int err = plug_standard_descriptors(&o->recorder.stdout_is_closed), code;

	if (err) {
		log_error("cannot open /dev/null: %s", strerror(-err));
		return EXIT_BPFMON;
	}
	if (open_intake(&l))
		return EXIT_BPFMON;
	if (o->own_cgroup && own_cgroup_make(&l.cgroup)) {
		intake_remove(&l.intake);
		return EXIT_BPFMON;
	}
	code = prepare(&l);
	if (!code)
		attend(&l);
	intake_remove(&l.intake);
	if (o->own_cgroup)
		own_cgroup_remove(&l.cgroup);
	return code ? code : finish(&l);
}

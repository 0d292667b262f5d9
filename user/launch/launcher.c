// SPDX-License-Identifier: BSD-2-Clause
#include "launch/launcher.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "base/privilege.h"
#include "launch/signals.h"
#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ECHO_NS (50 * NSEC_PER_MSEC)
#define EXIT_BPFMON 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct role {
	const char *name;
	pid_t pid; /* 0: has ended */
	int control_fd;
};

struct launcher {
	struct launch_options *options;
	struct spawn command;
	struct role collector, recorder;
	int signal_fd;
	bool command_ended;
	int command_status;
	unsigned terminations; /* SIGTERM */
	pid_t last_terminator;
	uint64_t last_termination_ns;
	bool is_detached; /* told to leave the command running */
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

/* A role has a session of its own: what the terminal sends is for the command. */
static void become_role(const sigset_t *mask)
{
	static const int ignored[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				       SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ };

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static void run_recorder(struct launcher *l, int control_fd, int stream_fd)
{
	const uint64_t files = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH |
			       1ULL << CAP_FOWNER | 1ULL << CAP_CHOWN;
	struct recorder_options *o = &l->options->recorder;
	int err = 0;

	if (l->options->record_as)
		err = user_become(l->options->record_as);
	if (!err) /* root's files are root's to write, nothing else */
		err = privilege_keep(l->options->record_as ? 0 : files);
	if (err) {
		control_send(control_fd, CONTROL_FAILED, err, 0,
			     "the recorder could not give up its privileges");
		_exit(1);
	}
	o->control_fd = control_fd;
	o->stream_fd = stream_fd;
	_exit(recorder_run(o) ? 1 : 0);
}

static void run_collector(struct launcher *l, int control_fd, int stream_fd)
{
	struct collector_options *o = &l->options->collector;

	o->control_fd = control_fd;
	o->stream_fd = stream_fd;
	o->command = l->command.pid;
	o->recorder = l->recorder.pid;
	_exit(collector_run(o) ? 1 : 0);
}

static int fork_roles(struct launcher *l, const sigset_t *mask)
{
	int c[2], r[2], stream[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, r) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream))
		return -errno;
	l->recorder.pid = fork();
	if (!l->recorder.pid) {
		become_role(mask);
		close_all((int[]){ c[0], c[1], r[0], stream[0], l->signal_fd, l->command.go_fd,
				   l->command.status_fd },
			  7);
		run_recorder(l, r[1], stream[1]);
	}
	if (l->recorder.pid < 0)
		return -errno;
	l->collector.pid = fork();
	if (!l->collector.pid) {
		become_role(mask);
		close_all((int[]){ c[0], r[0], r[1], stream[1], l->signal_fd, l->command.go_fd,
				   l->command.status_fd },
			  7);
		run_collector(l, c[1], stream[0]);
	}
	close_all((int[]){ c[1], r[1], stream[0], stream[1] }, 4);
	l->collector.control_fd = c[0];
	l->recorder.control_fd = r[0];
	return l->collector.pid < 0 ? -errno : 0;
}

/* Waits for a role's word that it may begin. */
static int wait_until_ready(const struct role *role)
{
	struct control m;

	if (control_receive(role->control_fd, &m) != 1) {
		log_error("the %s ended before it was ready; nothing was run", role->name);
		return -ECHILD;
	}
	if (m.type == CONTROL_READY)
		return 0;
	log_error("%s", m.text);
	return m.value ? m.value : -EIO;
}

static void role_reap(struct role *role)
{
	if (!role->pid)
		return;
	close(role->control_fd);
	role->control_fd = -1;
	while (waitpid(role->pid, NULL, 0) < 0 && errno == EINTR)
		;
	role->pid = 0;
}

static void role_ended(struct role *role, int status)
{
	role->pid = 0;
	if (WIFSIGNALED(status))
		log_warn("the %s was killed by signal %d; the account is incomplete, %s",
			 role->name, WTERMSIG(status), "the command goes on");
}

/* The command has stopped or has been continued; or some child has ended. */
static void reap(struct launcher *l)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == l->command.pid && WIFSTOPPED(status)) {
			signals_stop_too(WSTOPSIG(status));
			kill(l->command.pid, SIGCONT); /* we go on, so shall it */
		} else if (pid == l->command.pid) {
			l->command_ended = true;
			l->command_status = status;
			control_send(l->collector.control_fd, CONTROL_ENDED, status, 0, NULL);
		} else if (WIFSTOPPED(status)) {
			continue; /* a role that somebody has stopped */
		} else if (pid == l->collector.pid) {
			role_ended(&l->collector, status);
		} else if (pid == l->recorder.pid) {
			role_ended(&l->recorder, status);
		}
	}
}

static void detach(struct launcher *l)
{
	l->is_detached = true;
	control_send(l->collector.control_fd, CONTROL_STOP, 0, 0, NULL);
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
	return (l->command_ended || l->is_detached) && !l->collector.pid && !l->recorder.pid;
}

static void attend(struct launcher *l)
{
	struct pollfd p = { .fd = l->signal_fd, .events = POLLIN };
	struct signalfd_siginfo si;

	while (!is_over(l)) {
		if (poll(&p, 1, -1) < 0)
			continue;
		while (read(l->signal_fd, &si, sizeof(si)) == sizeof(si)) {
			reap(l);
			hear_signal(l, &si);
		}
		reap(l);
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

	if (wait_until_ready(&l->recorder) || wait_until_ready(&l->collector)) {
		spawn_cancel(&l->command);
		return EXIT_BPFMON;
	}
	now = clock_ns(CLOCK_MONOTONIC);
	err = spawn_exec(&l->command, &step);
	if (!err) {
		control_send(l->collector.control_fd, CONTROL_START, 0, now, NULL);
		return 0;
	}
	while (waitpid(l->command.pid, NULL, 0) < 0 && errno == EINTR)
		;
	log_error("cannot %s '%s': %s", step, l->options->argv[0], strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int launch(struct launch_options *o)
{
	struct launcher l = {
		.options = o,
		.collector = { .name = "collector", .control_fd = -1 },
		.recorder = { .name = "recorder", .control_fd = -1 },
	};
	struct sigaction children = { .sa_handler = SIG_DFL }, inherited;
	sigset_t mask;
	int err = plug_standard_descriptors(&o->recorder.stdout_is_closed), code;

	if (!err) {
		/* ignored, the kernel would reap our children before we know how they ended */
		sigaction(SIGCHLD, &children, &inherited);
		l.signal_fd = signals_open(&mask);
		err = l.signal_fd < 0
			      ? -errno
			      : spawn_fork(&l.command, o->argv, &mask, &inherited, o->run_as);
	}
	if (err) {
		log_error("cannot prepare the command's process: %s", strerror(-err));
		return EXIT_BPFMON;
	}
	err = fork_roles(&l, &mask);
	if (err) {
		log_error("cannot start collector and recorder: %s", strerror(-err));
		spawn_cancel(&l.command);
		code = EXIT_BPFMON;
	} else {
		privilege_keep(1ULL << CAP_KILL); /* to forward signals to whomever it becomes */
		code = start(&l);
	}
	if (code) {
		role_reap(&l.collector);
		role_reap(&l.recorder);
		return code;
	}
	attend(&l);
	return finish(&l);
}

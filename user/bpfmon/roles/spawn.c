// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/spawn.h"

#include "base/exit_status.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Those that are in their places already stay. */
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
	/* now, while the programs are loaded: what is used from the waiting on is the command's */
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
	send(go, "", 1, MSG_NOSIGNAL);
	do
		n = recv(go, &byte, 1, MSG_PEEK); /* which is in no count of reads, or of sockets */
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
	kill(s->pid, SIGKILL); /* it may have been stopped */
}

void spawn_wait(struct spawn *s)
{
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

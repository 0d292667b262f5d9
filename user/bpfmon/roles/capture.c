// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/capture.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TEXT (4UL << 20)
#define MAX_ERRORS (64UL << 10)

struct pipe_reader {
	int fd; /* non-blocking; -1: at its end */
	char *text;
	size_t used, room;
	bool has_overflowed;
};

struct client_process {
	pid_t pid;
	int pidfd;
	struct pipe_reader out, err;
};

/* The pipes of one program. bpfmon's end is [0]. */
struct pipes {
	int out[2], err[2];
	int failed[2]; /* brings a negative errno if the program cannot be executed */
};

static int environment_take(const struct user *as)
{
	char runtime[64];
	int err = user_set_environment(as);

	if (err)
		return err;
	snprintf(runtime, sizeof(runtime), "/run/user/%u", as->uid);
	if (access(runtime, F_OK))
		return unsetenv("XDG_RUNTIME_DIR");
	return setenv("XDG_RUNTIME_DIR", runtime, 1) ? -errno : 0;
}

/*
 * A program that runs with rights that bpfmon's caller lacks is searched in fixed folders, and gets
 * no variable of the caller: not PATH, LD_..., DOCKER_HOST, CONTAINER_HOST, nor the path of its
 * configuration.
 */
static int environment_take_fixed(void)
{
	struct user self;
	bool was_sudo;

	if (geteuid())
		user_find_caller(&self, &was_sudo);
	else if (user_find("root", &self))
		return -ENOENT;
	if (clearenv() || setenv("PATH", CAPTURE_PATH, 1) || setenv("LC_ALL", "C", 1))
		return -ENOMEM;
	return user_set_environment(&self);
}

/* If both are equal, because bpfmon has no stdio, dup2() does not clear FD_CLOEXEC. */
static int fd_move(int from, int to)
{
	return dup2(from, to) < 0 || fcntl(to, F_SETFD, 0) ? -errno : 0;
}

static int program_set_fds(const struct pipes *p, int failed)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out = fcntl(p->out[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int said = fcntl(p->err[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (null < 0 || out < 0 || said < 0)
		return -errno;
	if (fd_move(null, STDIN_FILENO) || fd_move(out, STDOUT_FILENO) ||
	    fd_move(said, STDERR_FILENO))
		return -errno;
	/* a client may leave a process behind, which must not hold bpfmon's files open */
	syscall(SYS_close_range, STDERR_FILENO + 1, failed - 1, 0);
	syscall(SYS_close_range, failed + 1, ~0U, 0);
	return 0;
}

static void program_execute(const char *const *argv, const struct user *as, const struct pipes *p)
{
	int failed = fcntl(p->failed[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	sigset_t none;
	ssize_t n;
	int err;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	err = failed < 0 ? -errno : program_set_fds(p, failed);
	if (!err && as)
		err = user_become(as);
	if (!err && as)
		err = environment_take(as);
	if (!err && !as && user_rights_are_lent())
		err = environment_take_fixed();
	/* the user may lack access to the present folder, and podman fails in such a one */
	if (!err && !chdir("/")) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which clears it */
		stack_restore_limit();
		execvp(argv[0], (char *const *)argv);
	}
	if (!err)
		err = -errno;
	n = write(failed, &err, sizeof(err));
	_exit(n == sizeof(err) ? 127 : 126);
}

static void fds_close(int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int program_start(const char *const *argv, const struct user *as, struct client_process *g)
{
	struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int err = 0;

	if (pipe2(p.out, O_CLOEXEC) || pipe2(p.err, O_CLOEXEC) || pipe2(p.failed, O_CLOEXEC)) {
		err = -errno;
		fds_close(p.out, sizeof(p) / sizeof(int));
		return err;
	}
	g->pid = fork();
	if (!g->pid)
		program_execute(argv, as, &p);
	if (g->pid < 0)
		err = -errno;
	close(p.out[1]);
	close(p.err[1]);
	close(p.failed[1]);
	fcntl(p.out[0], F_SETFL, O_NONBLOCK);
	fcntl(p.err[0], F_SETFL, O_NONBLOCK);
	g->out.fd = p.out[0];
	g->err.fd = p.err[0];
	if (!err && read(p.failed[0], &err, sizeof(err)) < 0)
		err = -errno;
	close(p.failed[0]);
	return err;
}

/*
 * Takes all that is in the pipe with one read; drops what exceeds @room. Closes the pipe at its
 * end.
 */
static void pipe_read(struct pipe_reader *r)
{
	char beyond[4096];
	size_t left = r->room - r->used;
	ssize_t n;

	if (r->fd < 0)
		return;
	n = read(r->fd, left ? r->text + r->used : beyond, left ? left : sizeof(beyond));
	if (n > 0 && left)
		r->used += (size_t)n;
	r->has_overflowed |= n > 0 && !left;
	if (!n) {
		close(r->fd);
		r->fd = -1;
	}
}

/* Waits for the program itself, even if a process that it left behind holds its pipes open. */
static int program_wait(struct client_process *g, uint64_t limit_ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ns;
	bool has_ended = false;

	while (!has_ended) {
		struct pollfd p[] = {
			{ .fd = g->pidfd, .events = POLLIN },
			{ .fd = g->out.fd, .events = POLLIN },
			{ .fd = g->err.fd, .events = POLLIN },
		};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(p, 3, (int)((end - now) / NSEC_PER_MSEC) + 1) < 0 && errno != EINTR)
			return -errno;
		has_ended = p[0].revents & POLLIN;
		pipe_read(&g->out);
		pipe_read(&g->err);
		if (g->out.has_overflowed)
			return -EMSGSIZE;
	}
	return 0;
}

/* stderr is untrusted: no control character of it may reach a terminal. */
static void capture_keep_error(const struct pipe_reader *r, struct captured *c)
{
	size_t end = r->used, begin;
	size_t n = 0;

	while (end && isspace((unsigned char)r->text[end - 1]))
		end--;
	for (begin = end; begin && r->text[begin - 1] != '\n';)
		begin--;
	while (begin < end && n < sizeof(c->error_line) - 1) {
		unsigned char ch = (unsigned char)r->text[begin++];

		c->error_line[n++] = (char)(ch < ' ' || ch == 0x7f ? ' ' : ch);
	}
	c->error_line[n] = '\0';
}

static int program_reap(struct client_process *g, int err)
{
	int status = 0;

	if (err && g->pid > 0)
		kill(-g->pid, SIGKILL); /* with what it has started */
	while (g->pid > 0 && waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture_run(const char *const *argv, const struct user *as, uint64_t limit_ns,
		struct captured *c)
{
	/* where SIGCHLD is ignored, the kernel reaps a child and its status is lost */
	struct sigaction children = { .sa_handler = SIG_DFL }, inherited;
	struct client_process g = {
		.pidfd = -1,
		.out = { .fd = -1, .text = memory_malloc(MAX_TEXT + 1), .room = MAX_TEXT },
		.err = { .fd = -1, .text = memory_malloc(MAX_ERRORS), .room = MAX_ERRORS },
	};
	int err = -ENOMEM;

	memset(c, 0, sizeof(*c));
	if (!g.out.text || !g.err.text)
		goto out;
	sigaction(SIGCHLD, &children, &inherited);
	err = program_start(argv, as, &g);
	if (!err) {
		g.pidfd = (int)syscall(SYS_pidfd_open, g.pid, 0);
		err = g.pidfd < 0 ? -errno : program_wait(&g, limit_ns);
	}
	c->status = program_reap(&g, err);
	sigaction(SIGCHLD, &inherited, NULL);
	g.out.text[g.out.used] = '\0';
	capture_keep_error(&g.err, c);
	fds_close((int[]){ g.pidfd, g.out.fd, g.err.fd }, 3);
out:
	free(g.err.text);
	c->text = g.out.text;
	return err;
}

void capture_done(struct captured *c)
{
	free(c->text);
	c->text = NULL;
}

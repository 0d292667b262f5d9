// SPDX-License-Identifier: BSD-2-Clause
#include "container/capture.h"

#include "base/clock.h"

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

#define MOST_TEXT (4UL << 20)
#define MOST_COMPLAINTS (64UL << 10)

struct voice {
	int fd; /* the pipe it comes through; does not block */
	char *text;
	size_t used, room;
	bool is_too_long;
};

struct program {
	pid_t pid;
	int pidfd;
	struct voice out, err;
};

/* Of the pipes of one program. [0] is ours. */
struct pipes {
	int out[2], err[2];
	int failed[2]; /* the errno of what kept it from being executed */
};

static int take_environment(const struct user *as)
{
	char runtime[64];
	int err = user_environment(as);

	if (err)
		return err;
	snprintf(runtime, sizeof(runtime), "/run/user/%u", as->uid);
	if (access(runtime, F_OK))
		return unsetenv("XDG_RUNTIME_DIR");
	return setenv("XDG_RUNTIME_DIR", runtime, 1) ? -errno : 0;
}

/*
 * What runs with rights that the caller lacks is found in fixed folders, and gets no variable of
 * the caller's: not PATH, LD_..., DOCKER_HOST, CONTAINER_HOST, nor where its configuration is.
 */
static int take_fixed_environment(void)
{
	struct user self;
	bool was_sudo;

	if (geteuid())
		user_caller(&self, &was_sudo);
	else if (user_by_name("root", &self))
		return -ENOENT;
	if (clearenv() || setenv("PATH", CAPTURE_PATH, 1) || setenv("LC_ALL", "C", 1))
		return -ENOMEM;
	return user_environment(&self);
}

/* They may be the same one, where ours were closed: then dup2() leaves it to close on exec. */
static int put_at(int from, int to)
{
	return dup2(from, to) < 0 || fcntl(to, F_SETFD, 0) ? -errno : 0;
}

static int plug(const struct pipes *p, int failed)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out = fcntl(p->out[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int said = fcntl(p->err[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (null < 0 || out < 0 || said < 0)
		return -errno;
	if (put_at(null, STDIN_FILENO) || put_at(out, STDOUT_FILENO) || put_at(said, STDERR_FILENO))
		return -errno;
	/* a client may leave a process behind, which must not hold what is open here */
	syscall(SYS_close_range, STDERR_FILENO + 1, failed - 1, 0);
	syscall(SYS_close_range, failed + 1, ~0U, 0);
	return 0;
}

static void child(const char *const *argv, const struct user *as, const struct pipes *p)
{
	int failed = fcntl(p->failed[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	sigset_t none;
	ssize_t n;
	int err;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	err = failed < 0 ? -errno : plug(p, failed);
	if (!err && as)
		err = user_become(as);
	if (!err && as)
		err = take_environment(as);
	if (!err && !as && user_rights_are_lent())
		err = take_fixed_environment();
	/* where we are may be forbidden for the user, at which podman gives up */
	if (!err && !chdir("/")) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of user, which clears it */
		execvp(argv[0], (char *const *)argv);
	}
	if (!err)
		err = -errno;
	n = write(failed, &err, sizeof(err));
	_exit(n == sizeof(err) ? 127 : 126);
}

static void close_all(int *fds, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int start(const char *const *argv, const struct user *as, struct program *g)
{
	struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int err = 0;

	if (pipe2(p.out, O_CLOEXEC) || pipe2(p.err, O_CLOEXEC) || pipe2(p.failed, O_CLOEXEC)) {
		err = -errno;
		close_all(p.out, sizeof(p) / sizeof(int));
		return err;
	}
	g->pid = fork();
	if (!g->pid)
		child(argv, as, &p);
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

/* One read takes all that is in a pipe now; at its end it is closed. */
static void hear(struct voice *v)
{
	char beyond[4096];
	size_t left = v->room - v->used;
	ssize_t n;

	if (v->fd < 0)
		return;
	n = read(v->fd, left ? v->text + v->used : beyond, left ? left : sizeof(beyond));
	if (n > 0 && left)
		v->used += (size_t)n;
	v->is_too_long |= n > 0 && !left;
	if (!n) {
		close(v->fd);
		v->fd = -1;
	}
}

/* Until it has ended, whoever else may still hold its pipes. */
static int attend(struct program *g, uint64_t limit_ns)
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
		hear(&g->out);
		hear(&g->err);
		if (g->out.is_too_long)
			return -EMSGSIZE;
	}
	return 0;
}

/* It writes what it likes: nothing of that is to reach a terminal but letters. */
static void keep_last_line(const struct voice *v, struct captured *c)
{
	size_t end = v->used, begin;
	size_t n = 0;

	while (end && isspace((unsigned char)v->text[end - 1]))
		end--;
	for (begin = end; begin && v->text[begin - 1] != '\n';)
		begin--;
	while (begin < end && n < sizeof(c->complaint) - 1) {
		unsigned char ch = (unsigned char)v->text[begin++];

		c->complaint[n++] = (char)(ch < ' ' || ch == 0x7f ? ' ' : ch);
	}
	c->complaint[n] = '\0';
}

static int reap(struct program *g, int err)
{
	int status = 0;

	if (err && g->pid > 0)
		kill(-g->pid, SIGKILL); /* its session: what it has started, too */
	while (g->pid > 0 && waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture(const char *const *argv, const struct user *as, uint64_t limit_ns, struct captured *c)
{
	/* ignored, the kernel would reap it before we know how it ended */
	struct sigaction children = { .sa_handler = SIG_DFL }, inherited;
	struct program g = {
		.pidfd = -1,
		.out = { .fd = -1, .text = malloc(MOST_TEXT + 1), .room = MOST_TEXT },
		.err = { .fd = -1, .text = malloc(MOST_COMPLAINTS), .room = MOST_COMPLAINTS },
	};
	int err = -ENOMEM;

	memset(c, 0, sizeof(*c));
	if (!g.out.text || !g.err.text)
		goto out;
	sigaction(SIGCHLD, &children, &inherited);
	err = start(argv, as, &g);
	if (!err) {
		g.pidfd = (int)syscall(SYS_pidfd_open, g.pid, 0);
		err = g.pidfd < 0 ? -errno : attend(&g, limit_ns);
	}
	c->status = reap(&g, err);
	sigaction(SIGCHLD, &inherited, NULL);
	g.out.text[g.out.used] = '\0';
	keep_last_line(&g.err, c);
	close_all((int[]){ g.pidfd, g.out.fd, g.err.fd }, 3);
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

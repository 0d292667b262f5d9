// SPDX-License-Identifier: BSD-2-Clause
#include "study/bench_runner.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/stack.h"
#include "study/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct runner {
	const struct bench_plan *p;
	const struct bench_ops *ops;
	void *context;
	bool *is_set_up; /* for each case; false again after the cleanup */
};

static int runner_step(const struct runner *r, const struct bench_case *c, enum bench_step step)
{
	return c->steps[step] ? r->ops->step(r->context, c, step) : 0;
}

static int case_set_up(const struct runner *r, size_t i)
{
	r->is_set_up[i] = true; /* set also if the setup fails halfway */
	return runner_step(r, &r->p->cases[i], BENCH_SETUP);
}

static int case_clean_up(const struct runner *r, size_t i)
{
	if (!r->is_set_up[i])
		return 0;
	r->is_set_up[i] = false;
	return runner_step(r, &r->p->cases[i], BENCH_CLEANUP);
}

static int turn_execute(const struct runner *r, const struct bench_turn *t)
{
	const struct bench_case *c = &r->p->cases[t->of];
	const bool is_alone = r->p->is_sequential;
	int err = is_alone && t->is_first ? case_set_up(r, t->of) : 0;

	if (!err)
		err = runner_step(r, c, BENCH_PREPARE);
	if (!err)
		err = r->ops->run(r->context, c, t);
	if (!err)
		err = runner_step(r, c, BENCH_CONCLUDE);
	if (!err && is_alone && t->is_last)
		err = case_clean_up(r, t->of);
	return err;
}

int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context)
{
	struct runner r = { .p = p, .ops = ops, .context = context };
	size_t *order = memory_calloc(p->nr + 1, sizeof(*order));
	struct bench_turn t;
	int err;

	r.is_set_up = memory_calloc(p->nr + 1, sizeof(*r.is_set_up));
	err = order && r.is_set_up ? 0 : -ENOMEM;
	for (size_t i = 0; !err && !p->is_sequential && i < p->nr; i++)
		err = case_set_up(&r, i);
	for (size_t i = 0; !err && i < (p->runs + p->warmups) * p->nr; i++) {
		bench_plan_turn(p, i, order, &t);
		err = turn_execute(&r, &t);
	}
	for (size_t i = 0; r.is_set_up && i < p->nr; i++) {
		int last = case_clean_up(&r, i);

		err = err ? err : last;
	}
	free(r.is_set_up);
	free(order);
	return err;
}

void children_open(struct children *c)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction child = { .sa_handler = SIG_DFL }, action;

	c->end_signal = 0;
	/* if SIGCHLD were ignored, the kernel would discard the status of children */
	sigaction(SIGCHLD, &child, NULL);
	sigemptyset(&c->waited);
	sigaddset(&c->waited, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&c->waited, ends[i]);
	sigprocmask(SIG_BLOCK, &c->waited, &c->before);
}

void children_leave(const struct children *c)
{
	sigprocmask(SIG_SETMASK, &c->before, NULL);
}

bool children_should_end(struct children *c)
{
	siginfo_t si;

	while (sigtimedwait(&c->waited, &si, &(struct timespec){ 0 }) > 0)
		if (si.si_signo != SIGCHLD)
			c->end_signal = si.si_signo;
	return c->end_signal;
}

static void child_forward_signal(struct children *c, pid_t pid, const siginfo_t *si)
{
	if (si->si_signo == SIGCHLD)
		return;
	c->end_signal = si->si_signo;
	if (si->si_code <= 0)
		kill(pid, si->si_signo);
}

int child_wait(struct children *c, pid_t pid)
{
	int status = 0;
	siginfo_t si;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			break;
		if (sigwaitinfo(&c->waited, &si) > 0)
			child_forward_signal(c, pid, &si);
	}
	/* a signal of the terminal that ended the child may be handled after the child's exit */
	children_should_end(c);
	return status;
}

static void child_become_command(const struct children *c, const char *shell, const char *command,
				 int stdout_fd)
{
	char **argv = shell ? words_by_shell(shell, command) : words_split(command);
	int err;

	children_leave(c);
	stack_restore_limit();
	if (argv && dup2(stdout_fd, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	err = errno;
	log_error("cannot execute '%s': %s", argv ? argv[0] : command, strerror(err));
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

int child_execute(struct children *c, const char *shell, const char *command, int stdout_fd)
{
	pid_t pid = fork();

	if (!pid)
		child_become_command(c, shell, command, stdout_fd);
	return pid < 0 ? -errno : child_wait(c, pid);
}

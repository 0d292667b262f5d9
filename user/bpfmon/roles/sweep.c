// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/sweep.h"

#include "base/clock.h"
#include "base/own_children.h"
#include "base/pidfd.h"
#include "base/procstat.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STOPPING_NS (500 * NSEC_PER_MSEC) /* what does not stop is killed as it runs */

struct swept {
	pid_t pid;
	unsigned threads;
};

struct sweep {
	const struct own_children *own;
	int signal;
	struct swept *all; /* owned; each process that was found, and the launcher before them */
	size_t nr, room;
	size_t at;      /* of them: the one whose children are looked at */
	size_t running; /* of those found: neither stopped nor dead */
	size_t alive;
};

/* False: there is no memory; what descends from it is found when it has ended. */
static bool sweep_put(struct sweep *s, pid_t pid, unsigned threads)
{
	size_t room = s->room ? s->room * 2 : 256;
	struct swept *all = s->all;

	if (s->nr == s->room) {
		all = reallocarray(all, room, sizeof(*all));
		if (!all)
			return false;
		s->all = all;
		s->room = room;
	}
	all[s->nr++] = (struct swept){ pid, threads };
	return true;
}

/*
 * It is opened before it is looked at: if it has ended since, and its PID is another's, the signal
 * reaches nothing. Its parent may have ended in between, which makes it the launcher's.
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

/* Signals each descendant before its children are looked at. */
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

size_t sweep_run(const struct own_children *own)
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

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process that writes has the store open, and SQLite's locks are of a process: so those that
 * read for clients are children of another one, which opens nothing.
 */
#include "history/historian.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/message.h"
#include "base/seccomp.h"
#include "history/reading.h"
#include "history/recording.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_PAUSE_NS NSEC_PER_SEC /* before a process that died is started again; then longer */
#define LONGEST_PAUSE_NS (64 * NSEC_PER_SEC)

#define MOST_READERS 16 /* at once */
#define MOST_READERS_OF_USER 4

struct reader_process {
	pid_t pid; /* 0: the place is free */
	uid_t uid;
};

struct historian {
	const struct history_options *o;
	int stream_fd, control_fd;
	pid_t recorder;    /* 0: there is none now */
	uint64_t began_ns; /* CLOCK_MONOTONIC, here and below: when it was started */
	uint64_t due_ns;   /* when it is to be started */
	uint64_t pause_ns;
	bool was_started, is_over, agent_is_gone;
	sigset_t while_waiting;
	struct reader_process readers[MOST_READERS];
	struct message message;
};

static void child_note(int signal)
{
	(void)signal; /* it interrupts the wait */
}

static void recorder_start(struct historian *h)
{
	h->began_ns = clock_ns(CLOCK_MONOTONIC);
	h->recorder = fork();
	if (!h->recorder) {
		seccomp_install(SECCOMP_RECORDER);
		_exit(recording_run(h->o, h->stream_fd, h->control_fd, h->was_started) ? 1 : 0);
	}
	if (h->recorder < 0) {
		h->recorder = 0;
		h->due_ns = h->began_ns + h->pause_ns;
		return;
	}
	h->was_started = true;
}

/* What has come meanwhile waits in the socket, and in the agent's queue. */
static void recorder_note_end(struct historian *h, int status)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	h->recorder = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		h->is_over = true;
		return;
	}
	if (now_ns - h->began_ns > LONGEST_PAUSE_NS)
		h->pause_ns = FIRST_PAUSE_NS;
	log_warn("the historian has ended (%s %d); it is started again",
		 WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	h->due_ns = now_ns + h->pause_ns;
	if (h->pause_ns < LONGEST_PAUSE_NS)
		h->pause_ns *= 2;
}

static void children_reap(struct historian *h)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == h->recorder)
			recorder_note_end(h, status);
		for (size_t i = 0; i < MOST_READERS; i++)
			if (h->readers[i].pid == pid)
				h->readers[i].pid = 0;
	}
}

/* A free place; NULL: this user has to wait. */
static struct reader_process *reader_place(struct historian *h, const struct reader *who)
{
	struct reader_process *place = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < MOST_READERS; i++) {
		if (!h->readers[i].pid)
			place = &h->readers[i];
		else
			nr += h->readers[i].uid == who->uid;
	}
	return nr < MOST_READERS_OF_USER ? place : NULL;
}

static void reader_start(struct historian *h, const struct reader *who, const char *text, int fd)
{
	struct reader_process *place = reader_place(h, who);
	pid_t pid = place ? fork() : -1;

	if (!pid) {
		close(h->stream_fd);
		close(h->control_fd);
		seccomp_install(SECCOMP_RECORDER);
		reading_run(h->o, who, text, fd);
		_exit(0);
	}
	if (pid < 0)
		reading_refuse(fd, "too many ask for the history just now; try again");
	else
		*place = (struct reader_process){ pid, who->uid };
}

/* The agent's words, then the client's. */
static void reader_take(struct historian *h)
{
	struct message *m = &h->message;
	struct reader who;
	unsigned uid, is_admin;
	int n = 0;

	if (m->nr_fds == 1 && sscanf(m->text, "%u %u %n", &uid, &is_admin, &n) == 2 && n) {
		who = (struct reader){ uid, is_admin != 0 };
		reader_start(h, &who, m->text + n, m->fds[0]);
	}
	message_done(m);
}

static void historian_take_message(struct historian *h)
{
	struct control c;
	int got = message_receive(&h->message, h->control_fd, &c);

	if (got == 1 && c.type == CONTROL_READER)
		reader_take(h);
	else if (got != 1 && got != -EAGAIN)
		h->agent_is_gone = true;
}

static void historian_wait(struct historian *h)
{
	struct pollfd p = { .fd = h->agent_is_gone ? -1 : h->control_fd, .events = POLLIN };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), ns;
	struct timespec wait;

	ns = h->due_ns > now_ns ? h->due_ns - now_ns : 0;
	wait = (struct timespec){ (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };
	if (ppoll(&p, 1, h->recorder ? NULL : &wait, &h->while_waiting) <= 0)
		return;
	historian_take_message(h);
}

static void signals_set(struct historian *h)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ };
	struct sigaction on_child = { .sa_handler = child_note };
	sigset_t child;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigaction(SIGCHLD, &on_child, NULL);
	sigemptyset(&h->while_waiting);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
}

void historian_run(const struct history_options *o, int stream_fd, int control_fd)
{
	struct historian h = { .o = o,
			       .stream_fd = stream_fd,
			       .control_fd = control_fd,
			       .pause_ns = FIRST_PAUSE_NS,
			       .message = { .limit = 1000 } };

	signals_set(&h);
	seccomp_install(SECCOMP_HISTORIAN | SECCOMP_RECORDER);
	while (!h.is_over) {
		if (!h.recorder && clock_ns(CLOCK_MONOTONIC) >= h.due_ns)
			recorder_start(&h);
		historian_wait(&h);
		children_reap(&h);
	}
}

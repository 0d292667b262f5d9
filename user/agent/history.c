// SPDX-License-Identifier: BSD-2-Clause
#include "agent/history.h"

#include "base/clock.h"
#include "base/message.h"
#include "base/log.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "agent/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
	uid_t uid;
	gid_t gid;
};

/* The store belongs to one user, whose rights the historian takes. */

#define OWNER "bpfmon"
#define NO_GROUP 65534

static bool folder_is_empty(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own >= 0 ? fdopendir(own) : NULL;
	const struct dirent *e;
	bool is_empty = d != NULL;

	if (!d && own >= 0)
		close(own);
	while (d && (e = readdir(d)))
		is_empty &= !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return is_empty;
}

/*
 * Gives an empty folder to the historian's user. It must be empty: no file, and no folder that
 * others use, is given away.
 */
static int folder_chown(int fd, struct place *p)
{
	struct user owner;

	if (!folder_is_empty(fd))
		return -ENOTEMPTY;
	if (user_find(OWNER, &owner) || !owner.uid) {
		p->uid = PRIVILEGE_FILES_UID;
		p->gid = PRIVILEGE_FILES_UID;
	} else {
		p->uid = owner.uid;
		p->gid = owner.gid;
	}
	return fchmod(fd, 0700) || fchown(fd, p->uid, p->gid) ? -errno : 0;
}

/* Uses the descriptor only, because the name may be replaced meanwhile. */
static int folder_find_owner(int fd, struct place *p)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	*p = (struct place){ st.st_uid, st.st_gid ? st.st_gid : NO_GROUP };
	if (geteuid()) /* an ordinary user keeps its rights */
		return 0;
	return st.st_uid ? 0 : folder_chown(fd, p);
}

static int folder_explain(const char *folder, int err, char *why, size_t size)
{
	if (err == -ENOTEMPTY)
		snprintf(why, size,
			 "root owns %s, the directory of the store, and it has files: chown it to "
			 "the user of the history, or use another directory",
			 folder);
	else if (err == -EPERM)
		snprintf(why, size,
			 "users other than the owner can write to %s, the directory of the store; "
			 "run: chmod go-w %s",
			 folder, folder);
	else if (err)
		snprintf(why, size, "cannot use %s, the directory of the store: %s", folder,
			 strerror(-err));
	return err;
}

/* Returns true if @folder, which need not exist, is that of the file @path. */
static bool folder_has(const char *folder, const char *path)
{
	char copy[PATH_MAX];
	const char *other;
	struct stat a, b;

	snprintf(copy, sizeof(copy), "%s", path);
	other = dirname(copy);
	if (!strcmp(folder, other))
		return true;
	return !stat(folder, &a) && !stat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/*
 * Finds the owner of the folder of @store, and creates the folder if it is missing. A new folder,
 * or an empty one of root, is given to the user "bpfmon", or if there is none to
 * PRIVILEGE_FILES_UID; that of the socket is refused. Returns 0, or a negative errno with a
 * sentence without a full stop in @why.
 */
static int place_prepare(const struct history_options *o, struct place *p, char *why, size_t size)
{
	const char *store = o->store;
	char copy[PATH_MAX];
	const char *folder;
	int fd, err;

	if (*store != '/' || strlen(store) >= sizeof(copy)) {
		snprintf(why, size, "the path of the store is not absolute or is too long: %s",
			 store);
		return -EINVAL;
	}
	snprintf(copy, sizeof(copy), "%s", store);
	folder = dirname(copy);
	if (!geteuid() && folder_has(folder, o->socket)) {
		snprintf(
			why, size,
			"the folder %s has the agent's socket and must remain root's; name a store "
			"in a folder of its own",
			folder);
		return -EINVAL;
	}
	if (mkdir(folder, 0700) && errno != EEXIST)
		return folder_explain(folder, -errno, why, size);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : folder_find_owner(fd, p);
	if (fd >= 0)
		close(fd);
	return folder_explain(folder, err, why, size);
}

/* Takes the owner's ids permanently and drops all capabilities. Returns 0 or a negative errno. */
static int place_become_owner(const struct place *p)
{
	privilege_bound(0);
	if (!geteuid() && (setgroups(0, NULL) || setresgid(p->gid, p->gid, p->gid) ||
			   setresuid(p->uid, p->uid, p->uid)))
		return -errno;
	return privilege_keep(0);
}

/*
 * The historian opens no file itself. The recorder has the store open, and SQLite's locks belong to
 * a process, so readers are forked from the historian.
 */

#define FIRST_PAUSE_NS NSEC_PER_SEC /* before a failed recorder is restarted; doubles each time */
#define LONGEST_PAUSE_NS (64 * NSEC_PER_SEC)

#define MOST_READERS 16 /* concurrent */
#define MOST_READERS_OF_USER 4

struct reader_process {
	pid_t pid; /* 0: unused slot */
	uid_t uid;
};

struct historian {
	const struct history_options *o;
	int stream_fd, control_fd;
	pid_t recorder;    /* 0 while none runs */
	uint64_t began_ns; /* CLOCK_MONOTONIC, as below: its start */
	uint64_t due_ns;   /* time of the next start */
	uint64_t pause_ns;
	bool was_started, is_over, agent_is_gone;
	sigset_t while_waiting;
	struct reader_process readers[MOST_READERS];
	struct message message;
};

static void handle_sigchld(int signal)
{
	(void)signal; /* only interrupts the wait */
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

/* Lines that arrive meanwhile stay in the socket and the agent's queue. */
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
	log_warn("the history process has ended (%s %d); restarting it",
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

/* Returns an unused slot, or NULL if this user has to wait. */
static struct reader_process *reader_place(struct historian *h, const struct reader *reader)
{
	struct reader_process *place = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < MOST_READERS; i++) {
		if (!h->readers[i].pid)
			place = &h->readers[i];
		else
			nr += h->readers[i].uid == reader->uid;
	}
	return nr < MOST_READERS_OF_USER ? place : NULL;
}

static void reader_start(struct historian *h, const struct reader *reader, const char *text, int fd)
{
	struct reader_process *place = reader_place(h, reader);
	pid_t pid = place ? fork() : -1;

	if (!pid) {
		close(h->stream_fd);
		close(h->control_fd);
		seccomp_install(SECCOMP_RECORDER);
		reading_run(h->o, reader, text, fd);
		_exit(0);
	}
	if (pid < 0)
		reading_refuse(fd, "too many requests for the history; try again later");
	else
		*place = (struct reader_process){ pid, reader->uid };
}

/* The text begins with the agent's fields; the client's query follows. */
static void reader_take(struct historian *h)
{
	struct message *m = &h->message;
	struct reader reader;
	unsigned uid, is_admin;
	int n = 0;

	if (m->nr_fds == 1 && sscanf(m->text, "%u %u %n", &uid, &is_admin, &n) == 2 && n) {
		reader = (struct reader){ uid, is_admin != 0 };
		reader_start(h, &reader, m->text + n, m->fds[0]);
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
	struct sigaction on_child = { .sa_handler = handle_sigchld };
	sigset_t child;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigaction(SIGCHLD, &on_child, NULL);
	sigemptyset(&h->while_waiting);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
}

/* Runs until the agent is gone and its lines are stored. */
static void historian_run(const struct history_options *o, int stream_fd, int control_fd)
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

#define PATIENCE_MS 8000

/* Closes what the agent was started with, such as a socket of systemd. */
static void descriptors_close_except(int a, int b)
{
	const unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

static void historian_begin(const struct history_options *o, const struct place *p, int stream_fd,
			    int control_fd)
{
	int err;

	descriptors_close_except(stream_fd, control_fd);
	setsid(); /* signals of the terminal are for the agent */
	err = place_become_owner(p);
	if (err)
		control_send(control_fd, CONTROL_FAILED, err, 0, strerror(-err));
	else if (!control_send(control_fd, CONTROL_READY, 0, 0, NULL))
		historian_run(o, stream_fd, control_fd);
	_exit(err ? 1 : 0);
}

static int answer_wait(int control_fd, char *why, size_t size)
{
	struct control c;
	int got = control_receive(control_fd, &c);

	if (got == 1 && c.type == CONTROL_READY)
		return 0;
	if (got == 1)
		snprintf(why, size, "the history process cannot drop its privileges: %s", c.text);
	else
		snprintf(why, size, "the history process did not start");
	return got == 1 && c.value < 0 ? c.value : -ECHILD;
}

int history_start(const struct history_options *o, struct history *h, char *why, size_t size)
{
	int stream[2] = { -1, -1 }, control[2] = { -1, -1 }, err;
	struct place place = { 0 };
	pid_t pid = 0;

	*h = (struct history){ -1, -1 };
	err = place_prepare(o, &place, why, size);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) || (pid = fork()) < 0) {
		err = -errno;
		snprintf(why, size, "cannot start the history process: %s", strerror(-err));
	}
	if (!err && !pid)
		historian_begin(o, &place, stream[1], control[1]);
	*h = (struct history){ stream[0], control[0] };
	for (int i = 0; i < 2; i++)
		if ((i ? control : stream)[1] >= 0)
			close((i ? control : stream)[1]);
	if (!err)
		err = answer_wait(h->control_fd, why, size);
	if (!err && fcntl(h->control_fd, F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err)
		history_end(h);
	return err;
}

void history_end(struct history *h)
{
	struct pollfd p = { .fd = h->control_fd };

	if (h->stream_fd >= 0)
		close(h->stream_fd);
	if (h->stream_fd >= 0 && h->control_fd >= 0)
		poll(&p, 1, PATIENCE_MS); /* until the historian exits */
	if (h->control_fd >= 0)
		close(h->control_fd);
	*h = (struct history){ -1, -1 };
}

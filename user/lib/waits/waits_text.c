// SPDX-License-Identifier: BSD-2-Clause
/* Describes in one line what a process waits for. */
#include "waits/syscalls.h"
#include "waits/waits.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[NR_WAIT_KINDS] = {
	[WAIT_ENDED] = "ended",         [WAIT_HIDDEN] = "hidden",
	[WAIT_UNREAD] = "unknown",      [WAIT_OTHER] = "other",
	[WAIT_RUNS] = "runs",           [WAIT_THROTTLED] = "throttled",
	[WAIT_IDLE] = "idle",           [WAIT_STOPPED] = "stopped",
	[WAIT_TRACED] = "traced",       [WAIT_FROZEN] = "frozen",
	[WAIT_ZOMBIE] = "zombie",       [WAIT_DISK] = "uninterruptible",
	[WAIT_SERVER] = "file-server",  [WAIT_LOCK] = "lock",
	[WAIT_MUTEX] = "mutex",         [WAIT_JOIN] = "thread",
	[WAIT_FUTEX] = "futex",         [WAIT_PIPE_OPEN] = "fifo-open",
	[WAIT_PIPE_READ] = "pipe-read", [WAIT_PIPE_WRITE] = "pipe-write",
	[WAIT_RECEIVE] = "receive",     [WAIT_SEND] = "send",
	[WAIT_CONNECT] = "connect",     [WAIT_ACCEPT] = "accept",
	[WAIT_CHILD] = "child",         [WAIT_TERMINAL] = "terminal",
	[WAIT_FILE] = "file",           [WAIT_IPC] = "ipc",
	[WAIT_URING] = "io-uring",      [WAIT_POLL] = "poll",
	[WAIT_SLEEP] = "sleep",         [WAIT_SIGNAL] = "signal",
};

const char *wait_kind_name(enum wait_kind kind)
{
	return kind_names[kind];
}

/* A text being written; cut at @size. */
struct sentence {
	char *out;
	size_t size, used;
};

static void __attribute__((format(printf, 2, 3)))
sentence_append(struct sentence *s, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(s->out + s->used, s->size - s->used, format, list);
	va_end(list);
	if (n > 0)
		s->used += (size_t)n < s->size - s->used ? (size_t)n : s->size - s->used - 1;
}

static const char *state_word(char state)
{
	switch (state) {
	case 'T':
		return " (stopped)";
	case 't':
		return " (stopped by its tracer)";
	case 'Z':
	case 'X':
		return " (ended)";
	case 'D':
		return " (uninterruptible)";
	default:
		return "";
	}
}

static void peer_describe(struct sentence *s, const struct wait_peer *peer)
{
	sentence_append(s, "%d%s%s%s", peer->pid, *peer->comm ? " " : "", peer->comm,
			state_word(peer->state));
}

/* "4711 cp (stopped), 4712 sh and 3 more" */
static void peers_describe(struct sentence *s, const struct wait *w)
{
	unsigned shown = w->peers < WAIT_PEERS ? w->peers : WAIT_PEERS;

	for (unsigned i = 0; i < shown; i++) {
		sentence_append(s, "%s", i ? ", " : "");
		peer_describe(s, &w->peer[i]);
	}
	if (w->peers > shown)
		sentence_append(s, " and %u more", w->peers - shown);
}

static void holder_describe(struct sentence *s, const struct wait *w, const char *before)
{
	if (w->peers == 1 && w->peer[0].pid == w->pid) {
		sentence_append(s, "%sonly itself", before);
	} else if (w->peers) {
		sentence_append(s, "%s", before);
		peers_describe(s, w);
	} else if (w->has_other_end) {
		sentence_append(s, "%s%s", before,
				w->unread & WAIT_NO_OTHERS ? "no process that this user may read"
							   : "no process");
	}
}

static void pipe_describe(struct sentence *s, const struct wait *w, const char *what)
{
	const char *kind = *w->object ? "FIFO" : "pipe";

	sentence_append(s, "%s a %s%s%s%s", what, w->kind == WAIT_PIPE_WRITE ? "full " : "", kind,
			*w->object ? " " : "", w->object);
	holder_describe(s, w, "; the other end: ");
}

static void lock_describe(struct sentence *s, const struct wait *w)
{
	const char *kind = !strcmp(w->lock, "FLOCK")    ? "flock"
			   : !strcmp(w->lock, "POSIX")  ? "POSIX"
			   : !strcmp(w->lock, "OFDLCK") ? "open file description"
							: "";

	sentence_append(s, !strcmp(w->lock, "LEASE") ? "waits for the end of a lease"
						     : "waits for a lock");
	sentence_append(s, *kind ? " (%s" : "%s", kind);
	if (*kind && w->lock_last == UINT64_MAX && w->lock_first)
		sentence_append(s, ", from byte %" PRIu64, w->lock_first);
	else if (*kind && w->lock_last != UINT64_MAX)
		sentence_append(s, ", bytes %" PRIu64 "-%" PRIu64, w->lock_first, w->lock_last);
	if (*kind)
		sentence_append(s, ")");
	holder_describe(s, w, " held by "); /* before the path, which may be long */
	if (*w->object)
		sentence_append(s, ", on %s", w->object);
}

static void child_describe(struct sentence *s, const struct wait *w)
{
	if (w->peers == 1)
		sentence_append(s, "waits for its child ");
	else
		sentence_append(
			s, w->peers ? "waits for one of its %u children: " : "waits for a child",
			w->peers);
	peers_describe(s, w);
}

static void mutex_describe(struct sentence *s, const struct wait *w)
{
	if (w->is_deadlock) {
		sentence_append(
			s,
			"deadlock: its threads wait for each other; thread %d for a mutex that "
			"thread "
			"%d holds",
			w->tid, w->holder_tid);
		return;
	}
	sentence_append(s, "waits for a mutex held by ");
	if (w->peers)
		peers_describe(s, w);
	else
		sentence_append(s, "its thread %d", w->holder_tid);
	if (!w->peers && w->holder_kind != WAIT_UNREAD && w->holder_tid != w->tid)
		sentence_append(s, " (%s)", kind_names[w->holder_kind]);
}

static void disk_describe(struct sentence *s, const struct wait *w)
{
	const char *what = channel_disk(w->channel);

	sentence_append(s, "uninterruptible");
	if (what)
		sentence_append(s, ": waits for %s", what);
	if (*w->channel)
		sentence_append(s, what ? " (%s)" : ": in the kernel function %s", w->channel);
	if (*w->object)
		sentence_append(s, ", file %s", w->object);
	else if (*w->call)
		sentence_append(s, ", in %s()", w->call);
}

static void server_describe(struct sentence *s, const struct wait *w)
{
	enum mount_server server = channel_server(w->channel);

	if (!*w->mount)
		sentence_append(s, "waits for %s",
				server == SERVER_FUSE  ? "a file system in user space (FUSE)"
				: server == SERVER_NFS ? "a file server (NFS)"
				: server == SERVER_SMB ? "a file server (SMB)"
						       : "a file server");
	else
		sentence_append(s, "waits for the file system at %s (%s)", w->mount, w->mount_type);
	if (w->has_other_end)
		holder_describe(s, w, ", served by ");
	else if (*w->mount_source)
		sentence_append(s, ", served by %s", w->mount_source);
	if (*w->object)
		sentence_append(s, ", file %s", w->object);
	else if (*w->call)
		sentence_append(s, ", in %s()", w->call);
	if (w->state == 'D')
		sentence_append(s, "; uninterruptible");
}

static void poll_describe(struct sentence *s, const struct wait *w)
{
	sentence_append(s, "waits in %s", *w->call ? w->call : "poll or select");
	if (w->watched)
		sentence_append(s, " for %u descriptor%s", w->watched, w->watched == 1 ? "" : "s");
	if (*w->object)
		sentence_append(s, "%s%s", w->watched == 1 ? ": " : ", e.g. ", w->object);
	holder_describe(s, w, w->is_process ? ", " : "; the other end: ");
}

static void socket_describe(struct sentence *s, const struct wait *w)
{
	bool sends = w->kind == WAIT_SEND;

	if (w->kind == WAIT_ACCEPT)
		sentence_append(s, "waits for a connection%s%s", *w->object ? " on " : "",
				w->object);
	else if (w->kind == WAIT_CONNECT)
		sentence_append(s, "waits to connect%s%s", *w->object ? " to " : "", w->object);
	else if (!*w->object)
		sentence_append(s, "waits to %s on a %ssocket", sends ? "send" : "receive",
				w->is_unix ? "Unix " : "");
	else if (w->object_is_own)
		sentence_append(s, "waits to %s %s", sends ? "send from" : "receive at", w->object);
	else
		sentence_append(s, "waits to %s %s", sends ? "send to" : "receive from", w->object);
	holder_describe(s, w,
			w->kind != WAIT_CONNECT ? "; the other end: "
			: w->queue_is_full      ? "; the listener, whose queue is full: "
						: "; the listener: ");
}

static void other_describe(struct sentence *s, const struct wait *w)
{
	if (*w->call && *w->channel)
		sentence_append(s, "waits in %s() (%s)", w->call, w->channel);
	else if (*w->call)
		sentence_append(s, "waits in %s()", w->call);
	else if (*w->channel)
		sentence_append(s, "waits in the kernel function %s", w->channel);
	else
		sentence_append(s, "waits");
	if (*w->object)
		sentence_append(s, " on %s", w->object);
}

static void throttle_describe(struct sentence *s, const struct wait *w)
{
	sentence_append(s,
			"throttled: the cgroup %s has used up its CPU quota of %u.%02u CPUs; raise "
			"%s there, or run fewer threads at once",
			w->object, w->quota_milli / 1000, w->quota_milli % 1000 / 10,
			w->cgroup_is_v2 ? "cpu.max" : "cpu.cfs_quota_us");
}

static void stop_describe(struct sentence *s, const struct wait *w)
{
	const char *which = *w->object ? w->object : "its terminal";

	switch (w->stop_signal) {
	case SIGTTIN:
		sentence_append(s, "stopped by SIGTTIN: it reads %s in the background", which);
		break;
	case SIGTTOU:
		sentence_append(
			s, "stopped by SIGTTOU: it writes to %s, or changes it, in the background",
			which);
		break;
	case SIGTSTP:
		sentence_append(s, "stopped by SIGTSTP (Ctrl-Z)");
		break;
	default:
		sentence_append(s, "stopped by a signal");
		/* an unknown signal: Ctrl-Z and SIGTTIN look alike */
		if (!w->stop_signal && *w->object)
			sentence_append(s, ", while it uses %s in the background", w->object);
		break;
	}
}

static void ended_describe(struct sentence *s, const struct wait *w)
{
	switch (w->kind) {
	case WAIT_ENDED:
		sentence_append(s, "has ended");
		break;
	case WAIT_HIDDEN:
		sentence_append(s, "is alive, but /proc hides it from this user (hidepid)");
		break;
	case WAIT_RUNS:
		sentence_append(s, "runs, or is ready to run");
		break;
	case WAIT_THROTTLED:
		throttle_describe(s, w);
		break;
	case WAIT_IDLE:
		sentence_append(s, "is idle");
		break;
	case WAIT_STOPPED:
		stop_describe(s, w);
		break;
	case WAIT_FROZEN:
		sentence_append(s, "frozen with %s%s", *w->object ? "the cgroup " : "its cgroup",
				w->object);
		if (*w->object)
			sentence_append(s, "; to continue it, write %s there",
					w->cgroup_is_v2 ? "0 to cgroup.freeze"
							: "THAWED to freezer.state");
		break;
	case WAIT_TRACED:
		sentence_append(s, "stopped by its tracer");
		if (w->peers)
			sentence_append(s, " ");
		peers_describe(s, w);
		break;
	case WAIT_ZOMBIE:
		sentence_append(s, "zombie: it has ended, and its parent ");
		peers_describe(s, w);
		sentence_append(s, "%sdoes not reap it", w->peers ? " " : "");
		break;
	default:
		sentence_append(s, "waits, but only root and its user can see for what");
		break;
	}
}

static void queue_describe(struct sentence *s, const struct wait *w)
{
	if (*w->object) {
		sentence_append(s, "waits for a message %s the %s queue %s",
				w->writes ? "to be taken from" : "in", w->writes ? "full" : "empty",
				w->object);
		holder_describe(s, w, "; the other end: ");
	} else {
		sentence_append(s, "waits for a queue or semaphore%s%s%s", *w->call ? " in " : "",
				w->call, *w->call ? "()" : "");
	}
}

static void plain_describe(struct sentence *s, const struct wait *w)
{
	switch (w->kind) {
	case WAIT_JOIN:
		sentence_append(s, "waits for the end of its thread %d", w->holder_tid);
		break;
	case WAIT_FUTEX:
		sentence_append(s, "waits for a futex");
		break;
	case WAIT_PIPE_OPEN:
		sentence_append(s, "waits until another process opens ");
		sentence_append(s, *w->object ? "the FIFO %s" : "a FIFO%s", w->object);
		sentence_append(s, *w->call ? (w->writes ? " to read" : " to write") : "");
		break;
	case WAIT_TERMINAL:
		sentence_append(s, w->writes ? "waits to write to the terminal"
					     : "waits for input from the terminal");
		sentence_append(s, "%s%s", *w->object ? " " : "", w->object);
		break;
	case WAIT_FILE:
		sentence_append(s, "waits in %s() on %s", *w->call ? w->call : "a call",
				*w->object ? w->object : "a file");
		holder_describe(s, w, w->is_process ? ", " : "; the other end: ");
		break;
	case WAIT_IPC:
		queue_describe(s, w);
		break;
	case WAIT_URING:
		sentence_append(s, "waits in io_uring%s%s", *w->object ? " for " : "", w->object);
		break;
	case WAIT_SLEEP:
		if (*w->object)
			sentence_append(s, "waits for %s", w->object);
		else
			sentence_append(s, "sleeps until a set time");
		break;
	case WAIT_SIGNAL:
		sentence_append(s, "waits for %s", *w->object ? w->object : "a signal");
		break;
	default:
		other_describe(s, w);
		break;
	}
}

static void kind_describe(struct sentence *s, const struct wait *w)
{
	if (w->kind == WAIT_PIPE_READ)
		pipe_describe(s, w, "waits to read");
	else if (w->kind == WAIT_PIPE_WRITE)
		pipe_describe(s, w, "waits to write to");
	else if (w->kind == WAIT_LOCK)
		lock_describe(s, w);
	else if (w->kind == WAIT_CHILD)
		child_describe(s, w);
	else if (w->kind == WAIT_MUTEX)
		mutex_describe(s, w);
	else if (w->kind == WAIT_DISK)
		disk_describe(s, w);
	else if (w->kind == WAIT_SERVER)
		server_describe(s, w);
	else if (w->kind == WAIT_POLL)
		poll_describe(s, w);
	else if (w->kind >= WAIT_RECEIVE && w->kind <= WAIT_ACCEPT)
		socket_describe(s, w);
	else if (w->kind <= WAIT_ZOMBIE && w->kind != WAIT_OTHER)
		ended_describe(s, w);
	else
		plain_describe(s, w);
	if (w->has_timeout && (w->kind == WAIT_POLL || w->kind == WAIT_FUTEX))
		sentence_append(s, ", or until a timeout");
}

/* Names what was unreadable, if the reason is known only in part. */
static void unread_describe(struct sentence *s, const struct wait *w)
{
	bool known = w->kind == WAIT_LOCK || w->kind == WAIT_UNREAD || w->kind == WAIT_STOPPED ||
		     w->kind == WAIT_TRACED;

	if (!known && (w->unread & WAIT_NO_CHANNEL) && (w->unread & WAIT_NO_CALL))
		sentence_append(
			s, " (its wait channel and system call are not readable without root)");
	else if (!known && (w->unread & (WAIT_NO_CALL | WAIT_NO_FILES)) && *w->channel &&
		 strchr("SD", w->state))
		sentence_append(s, " (unreadable: its system call or files need root, or it is a "
				   "32-bit program)");
}

void wait_text(const struct wait *w, char *out, size_t size)
{
	struct sentence s = { out, size, 0 };

	if (!size)
		return;
	out[0] = '\0';
	kind_describe(&s, w);
	if (w->threads > 1 && w->kind != WAIT_RUNS && w->kind != WAIT_THROTTLED &&
	    w->kind != WAIT_STOPPED && w->kind != WAIT_FROZEN && !w->is_deadlock)
		sentence_append(
			&s, w->alike == w->threads ? " (all %u threads)" : " (%u of %u threads)",
			w->alike == w->threads ? w->threads : w->alike, w->threads);
	unread_describe(&s, w);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between launcher and roles: packets of struct control over a socketpair. A longer text
 * is sent in parts, each a packet with the number of its bytes in @value and of the bytes after it
 * in @when_ns; descriptors come with the first part. Received messages are untrusted: the length is
 * bounded and each packet is checked.
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include "base/fd.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum control_type {
	CONTROL_READY = 1, /* role: ready to begin; @value is 1 if it needs CONTROL_REAPED */
	CONTROL_FAILED,    /* role: failed, with the reason in @text */
	CONTROL_START,     /* launcher: the command was executed at @when_ns (MONOTONIC) */
	CONTROL_ENDED,     /* launcher: the command has ended with the wait(2) status @value */
	CONTROL_STOP,      /* launcher: close the run now, the command continues */
	CONTROL_REQUEST,   /* launcher: what to track and report; in parts, up to CONTROL_CLIENT */
	CONTROL_DESCRIPTION, /* launcher: the run, for its meta line; before CONTROL_START */
	CONTROL_SUMMARY,     /* collector: its last line, which no recorder has taken */
	CONTROL_READER,      /* agent: the socket of a client that reads the history */
	CONTROL_CLIENT,      /* owner of a private agent: the socket of a client */
	CONTROL_KEPT,  /* historian: runs kept (@when_ns) and lost (@value), and why (@text) */
	CONTROL_GREET, /* historian: needs the meta lines of all jobs again */
	CONTROL_LIMIT, /* collector: a limit is exceeded; @text is JSON */
	/*
	 * collector: live processes of a run that is being ended, "PID:SERIAL "..., from a drain
	 * that began at @when_ns (BOOTTIME); @value is enum control_living.
	 */
	CONTROL_LIVING,
	/* launcher: what it has reaped, by reaped_print(); CONTROL_ENDED has it, too */
	CONTROL_REAPED,
	CONTROL_LIVE, /* recorder: the status line @text; launcher: @value is 1 if it is drawn */
	CONTROL_PING, /* client of the agent, before its request; answered by CONTROL_READY */
	/*
	 * launcher: send SIGKILL to the run that is being ended. Only for a collector whose
	 * CONTROL_LIVING has a number of ended processes.
	 */
	CONTROL_KILL,
	/* collector: nothing can be measured, for the reason in @text; the command is to run */
	CONTROL_UNAVAILABLE,
};

/*
 * With LIVING_ALL and LIVING_OVER, @text is the number of processes that have ended since the run
 * had to end.
 */
enum control_living {
	LIVING_SOME,
	/* the messages before had all live processes, or as many as the round has room for */
	LIVING_ALL,
	LIVING_OVER,
};

struct control {
	uint32_t type;
	int32_t value;
	uint64_t when_ns;
	char text[1024];
};

/*
 * Sends one packet without waiting. Returns 0 or a negative errno; -EAGAIN if the other side has
 * not read for long.
 */
int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text);
/*
 * Returns true if most of the queue is free. Checked before optional packets, so that the others
 * have room.
 */
bool control_has_room(int fd);
/*
 * Receives one packet and closes descriptors that come with it. Returns 1, 0 if the other side is
 * gone, or a negative errno, as -EAGAIN.
 */
int control_receive(int fd, struct control *message);

#define MESSAGE_FDS 72 /* most descriptors of a message */

struct message {
	size_t limit;      /* longest accepted text in bytes */
	bool is_untrusted; /* leave packets with descriptors in the queue: -EPERM */
	uint32_t type;     /* type of struct control; 0 if no part has arrived */
	char *text;        /* owned, with a NUL after its end */
	size_t length;     /* of the whole text in bytes */
	size_t used;       /* bytes received */
	size_t nr_fds;
	int fds[MESSAGE_FDS]; /* owned; -1 once taken by the receiver */
};

/*
 * Sends @length bytes (at least one) of @text, with @nr_fds descriptors. Waits up to @patience_ms
 * without progress while the other side is slow (-1: no limit). Returns 0 or a negative errno, as
 * -ETIMEDOUT or -EPIPE.
 */
int message_send(int fd, enum control_type type, const char *text, size_t length, const int *fds,
		 size_t nr_fds, int patience_ms);

/* Sends the text of @j and frees it. Returns -ENOMEM if the text is incomplete. */
int message_send_json(int fd, enum control_type type, struct jsonw *j, const int *fds,
		      size_t nr_fds, int patience_ms);

/*
 * Receives what has arrived. Returns 1 if the packet @c is complete or, for a type that is sent in
 * parts, if @m is: the caller gives it to message_done() before the next one. Returns 0 if the
 * other side is gone, -EAGAIN if there is nothing more yet, -EMSGSIZE if the text exceeds the
 * limit, -EBADMSG if it is no message, -EMFILE if there was no room for its descriptors, or
 * -ENOMEM.
 */
int message_receive(struct message *m, int fd, struct control *c);
/*
 * Adds a part without descriptors. Returns 1 if the message is complete, 0 if not, or an error as
 * above.
 */
int message_add(struct message *m, const struct control *part);
static inline bool message_is_whole(const struct message *m)
{
	return m->type && m->used == m->length;
}
/*
 * Like recv() without waiting, for a socket on which any process may send descriptors: fails with
 * EPERM if the next packet has some, and leaves it in the queue.
 */
ssize_t message_receive_plain(int fd, void *bytes, size_t size);
/*
 * Takes a packet that another process has received, with its descriptors in @m. Returns as
 * message_receive(), but 0 if more parts follow.
 */
int message_take_packet(struct message *m, const struct control *c);
/* Like message_done(), for untrusted descriptors. */
void message_discard(struct message *m, struct discard *d);
/* Frees the text and closes descriptors that were not taken. Keeps the limit. */
void message_done(struct message *m);

#endif

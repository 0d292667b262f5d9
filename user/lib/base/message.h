/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text of any length, and descriptors with it, over a control socket: in parts, each a packet of
 * struct control, with the number of its bytes in @value and of those that follow in @when_ns. What
 * is received is of unknown origin: its length is bounded, and every packet is checked.
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

/*
 * What launcher and roles send each other: packets over a socketpair. Most are whole by themselves;
 * a text of any length is sent in parts (base/message.h).
 */

enum control_type {
	CONTROL_READY = 1,   /* role: may begin; @value is 1: CONTROL_REAPED is wanted */
	CONTROL_FAILED,      /* role: @text is the reason */
	CONTROL_START,       /* launcher: the command has been executed at @when_ns (MONOTONIC) */
	CONTROL_ENDED,       /* launcher: it has ended, with @value as wait(2) gives it */
	CONTROL_STOP,        /* launcher: close the run now, the command goes on */
	CONTROL_REQUEST,     /* launcher: what to follow and to report; in parts, as all below */
	CONTROL_DESCRIPTION, /* launcher: the run, for its meta line; before CONTROL_START */
	CONTROL_SUMMARY,     /* collector: its last line, which no recorder has taken */
	CONTROL_READER,      /* agent: a client wants runs of the history, with its socket */
	CONTROL_CLIENT,      /* owner of a private agent: the socket of a client of it */
	CONTROL_KEPT,        /* historian: runs so far (@when_ns), lost (@value), and why (@text) */
	CONTROL_GREET,       /* historian: it needs the meta lines of all jobs again */
	CONTROL_LIMIT,       /* collector: a limit is exceeded, of which @text says all, in JSON */
	CONTROL_LIVING,      /* and live processes of a run that is to end, by a drain that began at
				@when_ns (BOOTTIME): "PID:SERIAL "...; @value: enum control_living */
	CONTROL_REAPED,      /* launcher: what it has waited for, as reaped_print() has it; so has
				CONTROL_ENDED then */
	CONTROL_LIVE,        /* recorder: the status line is @text; launcher: @value: it is drawn */
	CONTROL_PING,        /* client of the agent, before its request: CONTROL_READY answers it */
	CONTROL_KILL,        /* launcher: the run that is to end gets SIGKILL from now on; only to
				a collector whose CONTROL_LIVING has a number of ended processes */
};

/* With all but the first @text is how many processes have ended since the run was to end. */
enum control_living {
	LIVING_SOME,
	LIVING_ALL,  /* those before were all, or as many as the round had room for */
	LIVING_OVER, /* the run is over */
};

struct control {
	uint32_t type;
	int32_t value;
	uint64_t when_ns;
	char text[1024];
};

/* 0, or a negative errno. Never waits: -EAGAIN when the other side has not read for long. */
int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text);
/* Whether the other side has read most of what was sent: what is best effort waits for that, so
 * that there is room for what is not. */
bool control_has_room(int fd);
/*
 * 1: @message is there; 0: the other side is gone; else a negative errno (-EAGAIN included).
 * Descriptors that come with it are closed.
 */
int control_receive(int fd, struct control *message);

#define MESSAGE_FDS 72 /* the most that come with one */

struct message {
	size_t limit;      /* bytes; a text that is longer is refused */
	bool is_strangers; /* a packet with descriptors is left where it is: -EPERM */
	uint32_t type;     /* as in struct control; 0: no part has come */
	char *text;        /* owned; with a NUL after its end */
	size_t length;     /* in bytes, of all of it */
	size_t used;       /* of these have come */
	size_t nr_fds;
	int fds[MESSAGE_FDS]; /* owned; -1: taken by the receiver */
};

/*
 * Sends the @length bytes (at least one) of @text, and @nr_fds descriptors with the first part.
 * Waits while the other side is slow: up to @patience_ms without progress; -1: without limit. 0, or
 * a negative errno: -ETIMEDOUT, -EPIPE.
 */
int message_send(int fd, enum control_type type, const char *text, size_t length, const int *fds,
		 size_t nr_fds, int patience_ms);

/* The same of the text of @j, which is freed. -ENOMEM: memory did not suffice for it. */
int message_send_json(int fd, enum control_type type, struct jsonw *j, const int *fds,
		      size_t nr_fds, int patience_ms);

/*
 * Receives what has come by now. 1: @m is whole, if @c is of a type that is sent in parts, and is
 * to be given to message_done() before the next one; else @c is what there is. 0: the other side is
 * gone. -EAGAIN: there is nothing more yet. -EMSGSIZE: it would be longer than its limit;
 * -EBADMSG: it is no message; -EMFILE: there was no room for its descriptors; -ENOMEM.
 */
int message_receive(struct message *m, int fd, struct control *c);
/* Adds a part without descriptors. 1: it is whole; 0: more is to come; else as above. */
int message_add(struct message *m, const struct control *part);
static inline bool message_is_whole(const struct message *m)
{
	return m->type && m->used == m->length;
}
/*
 * Receives one packet as recv() does, without waiting, from a socket on which any process may send
 * descriptors: EPERM: the next one has some, and is left in the queue. See base/discard.h.
 */
ssize_t message_receive_plain(int fd, void *bytes, size_t size);
/*
 * Takes a packet that another process has received; its descriptors are in @m. As
 * message_receive(), but for 0: more is to come.
 */
int message_take_packet(struct message *m, const struct control *c);
/* As message_done(), of a message of strangers. */
void message_discard(struct message *m, struct discard *d);
/* Frees the text and closes the descriptors that were not taken; keeps the limit. */
void message_done(struct message *m);

#endif

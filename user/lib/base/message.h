/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A text of any length, and descriptors with it, over a control socket: in parts, each a packet of
 * struct control, with the number of its bytes in @value and of those that follow in @when_ns. What
 * is received is of unknown origin: its length is bounded, and every packet is checked.
 */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include "base/control.h"
#include "base/discard.h"
#include "base/json.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

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

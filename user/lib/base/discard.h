/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes sockets on which untrusted processes may have sent descriptors. The kernel drops those
 * that are still in the queue with the socket, in the process that closes it, which then waits for
 * them: for the other side of a TCP socket with SO_LINGER, as long as the sender has chosen. So
 * such a socket is handed to a process that may wait; where there is none it stays open until this
 * process ends, as what ends does not linger.
 */
#ifndef BASE_DISCARD_H
#define BASE_DISCARD_H

#include <stdbool.h>
#include <stddef.h>

#define DISCARDS_KEPT 64 /* more open ones at a time are too many */

struct discard {
	/* Takes over @fd, and closes it. False: it cannot just now, and has not; NULL: nobody does.
	 */
	bool (*hand_over)(void *context, int fd);
	void *context;
	int *kept; /* owned; open descriptors */
	size_t nr, room;
};

/* Closes a socket over which nobody can send descriptors, whatever waits in it. */
void socket_close_plain(int fd);
/* Nothing is sent over the socket @fd any more; closes it, now or later, and never waits. */
void socket_discard(struct discard *d, int fd);
/* The same of a descriptor of any kind that others use, too: they notice nothing. */
void descriptor_discard(struct discard *d, int fd);
/* Tries again to hand over those that are kept. */
void discards_attend(struct discard *d);
/* True: no more should come. */
static inline bool discards_are_many(const struct discard *d)
{
	return d->nr >= DISCARDS_KEPT;
}
/* Leaves those open that are kept. */
void discards_done(struct discard *d);

#endif

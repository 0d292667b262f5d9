/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon-push as a child that sends the lines of a run to a database. */
#ifndef ROLES_PUSHER_H
#define ROLES_PUSHER_H

#include <stdint.h>

struct pusher {
	int lines_fd; /* owned; takes line protocol, does not block */
	int end_fd;   /* owned; ends when the child does */
};

#define PUSHER_PATIENCE_S 5 /* that the child has for a silent server after the last line */

/*
 * Starts a child that sends to @url with the present rights of the caller, without capabilities.
 * Returns 0, or a negative errno after a message.
 */
int pusher_start(struct pusher *p, const char *url);
/* Ends the lines and waits for the child, a little longer than its patience. */
void pusher_end(struct pusher *p);

#endif

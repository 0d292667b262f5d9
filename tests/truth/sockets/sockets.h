/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes that move bytes through a socket, and what both have moved. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "../truth.h"

struct side {
	pid_t pid;
	long bytes, calls;
};

struct sides {
	struct side sender, receiver;
};

extern struct sides *said; /* shared by all processes */
extern char *block;        /* what is sent, and where it is received */
extern size_t block_bytes;
extern int file, tube[2]; /* with a block to send; a pipe of this process */

/* @n, unless it is less than 0: then the program ends, with @what in its reason. */
ssize_t checked(ssize_t n, const char *what);
/* Sends @n bytes or fewer by the call @way; what it returned. */
ssize_t send_once(int fd, const char *way, size_t n);
/* The same for receiving. */
ssize_t receive_once(int fd, const char *way, size_t n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs push: a thread receives it at once, whatever the collector is at, so that no sender
 * waits; the collector takes it from there. What there is no room for is counted.
 */
#ifndef PUSH_INBOX_H
#define PUSH_INBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UDP_SOCKETS 2 /* IPv4, IPv6 */

/* Where it comes in; -1: nowhere. */
struct intake {
	int marks_fd; /* Unix datagrams, with the credentials and the time of each */
	int udp_fds[UDP_SOCKETS];
};

/* One datagram. */
struct letter {
	struct letter *next;
	uint64_t sent_ns;      /* CLOCK_MONOTONIC */
	uint64_t sent_boot_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;          /* the sender's; 0: it is not known */
	bool is_udp;
	bool is_unknown;  /* when it was taken out of the inbox its sender was not one of ours, */
	uint64_t samples; /* and there were so many samples */
	size_t length;
	char text[]; /* and a NUL */
};

struct inbox {
	struct intake intake; /* owned, until it is stopped */
	int wake_fd;          /* readable when something has come; -1: nothing is listened to */
	int stop_fd;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	struct letter *first, **last;
	size_t nr, bytes;
	uint64_t dropped;   /* lines that there was no room for */
	uint64_t oversized; /* datagrams that are too large, for a mark or at all */
};

/* How many lines it is for who counts what was not taken: a mark is one, nothing at all, too. */
uint64_t letter_lines(const struct letter *l);

/* Begins to receive; the sockets are its own from then on. The thread has the rights that its maker
 * has now. A negative errno. */
int inbox_start(struct inbox *box, const struct intake *intake);
/* All that has come, in its order, owned by the caller; NULL: nothing. */
struct letter *inbox_take(struct inbox *box);
/* Ends when all that was sent before has been received; what has come can still be taken. Who sends
 * afterwards gets an error. */
void inbox_stop(struct inbox *box);
void inbox_done(struct inbox *box);

#endif

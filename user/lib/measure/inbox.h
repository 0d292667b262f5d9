/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The datagrams that programs push. A thread receives them at once, whatever the collector is busy
 * with, so that no sender waits; the collector takes them from here. Lines without room are
 * counted.
 */
#ifndef MEASURE_INBOX_H
#define MEASURE_INBOX_H

#include "base/fd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INBOX_CAME 16 /* more have no room beside what the kernel says of a sender */
#define UDP_SOCKETS 2 /* IPv4, IPv6 */

/* The sockets of the datagrams; -1: none. */
struct intake {
	int marks_fd; /* Unix datagrams, with the credentials and the time of each */
	int udp_fds[UDP_SOCKETS];
	struct discard *discard; /* closes marks_fd; not owned, NULL: senders are trusted */
};

/* One datagram. */
struct datagram {
	struct datagram *next;
	uint64_t sent_ns;      /* CLOCK_MONOTONIC */
	uint64_t sent_boot_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;          /* the sender's; 0: not known */
	bool is_udp;
	bool is_known;    /* its sender was of the run when it came, by what the kernel had of it */
	bool is_unknown;  /* when taken out of the inbox, its sender was not known to be in the run
			   */
	uint64_t samples; /* of the run, at that time */
	size_t length;
	char text[]; /* ended by a NUL */
};

struct inbox {
	struct intake intake; /* owned, until it is stopped */
	int wake_fd;          /* readable when a datagram has arrived; -1: not started */
	int stop_fd;
	pthread_t thread;
	int came[INBOX_CAME]; /* descriptors that a sender had no right to send: owned */
	size_t nr_came;       /* with the first ones no more marks are taken */
	uint64_t asked_ns;    /* CLOCK_MONOTONIC: when it was to stop; 0: it is not */
	_Atomic bool has_ended;
	bool is_abandoned;    /* it hangs: this may not be freed, nor what it uses */
	pthread_mutex_t lock; /* guards the rest */
	struct datagram *first, **last;
	size_t nr, bytes;
	uint64_t dropped;   /* lines without room */
	uint64_t oversized; /* datagrams that are too large, for a mark or at all */
};

/* A datagram of @length bytes that has just come from @pid; NULL without memory. */
struct datagram *datagram_new(const char *text, size_t length, uint32_t pid);
/* The lines that it counts for if it is not taken: a mark is one, an empty datagram is one, too. */
uint64_t datagram_count_lines(const struct datagram *l);

/*
 * Starts the thread that receives, which has the rights that the caller has now; @box owns the
 * sockets from then on. 0 or a negative errno.
 */
int inbox_start(struct inbox *box, const struct intake *intake);
/* All datagrams received so far, in their order, owned by the caller; NULL: none. */
struct datagram *inbox_take(struct inbox *box);
/*
 * Receives what was sent before, then ends the thread and closes the sockets: a later sender gets
 * an error. What was received can still be taken.
 */
void inbox_stop(struct inbox *box);
/* Has it stop, and waits for nothing: wake_fd is ready when it has. True: inbox_stop() does not
 * wait any more. */
bool inbox_ask_to_stop(struct inbox *box);
void inbox_done(struct inbox *box);

#endif

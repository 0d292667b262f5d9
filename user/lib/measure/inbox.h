/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives the datagrams that programs push. A thread takes them from the sockets at once, even
 * when the collector is busy, so that no sender blocks; the collector takes them from here. Lines
 * without room are counted.
 */
#ifndef MEASURE_INBOX_H
#define MEASURE_INBOX_H

#include "base/fd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INBOX_CAME                                                                                 \
	16 /* descriptors to be closed; more do not fit beside the sender's credentials */
#define UDP_SOCKETS 2 /* IPv4 and IPv6 */

/* Sockets of datagrams; -1: none. */
struct intake {
	int marks_fd; /* Unix socket with SO_PASSCRED and timestamps */
	int udp_fds[UDP_SOCKETS];
	struct discard *discard; /* closes marks_fd; not owned; NULL: senders are trusted */
};

struct datagram {
	struct datagram *next;
	uint64_t sent_ns;      /* CLOCK_MONOTONIC */
	uint64_t sent_boot_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;          /* of the sender; 0: unknown */
	bool is_udp;
	bool is_known; /* the kernel identified the sender as a process of the run on arrival */
	/* the sender was not (yet) known to be in the run when it left the inbox */
	bool is_unknown;
	uint64_t samples; /* samples of the run at that time */
	size_t length;
	char text[]; /* NUL-terminated */
};

struct inbox {
	struct intake intake; /* owned until the inbox is stopped */
	int wake_fd;          /* readable when a datagram has arrived; -1: not started */
	int stop_fd;
	pthread_t thread;
	/* owned; descriptors that a sender passed without being allowed to */
	int came[INBOX_CAME];
	size_t nr_came;    /* once above 0, no more marks are received */
	uint64_t asked_ns; /* CLOCK_MONOTONIC when stopping was requested; 0: not requested */
	_Atomic bool has_ended;
	bool is_abandoned;    /* the thread hangs: never free the inbox or what it uses */
	pthread_mutex_t lock; /* protects the following members */
	struct datagram *first, **last;
	size_t nr, bytes;
	uint64_t dropped;   /* lines without room */
	uint64_t oversized; /* datagrams too large for a mark or for the buffer */
};

/* Returns a datagram that has just been received from @pid, or NULL without memory. */
struct datagram *datagram_new(const char *text, size_t length, uint32_t pid);
/*
 * Returns the number of lines to count as lost if @l is dropped: a mark or an empty datagram is
 * one.
 */
uint64_t datagram_count_lines(const struct datagram *l);

/*
 * Starts the receiving thread, with the caller's present rights. The inbox then owns the sockets.
 * Returns 0 or a negative errno.
 */
int inbox_start(struct inbox *box, const struct intake *intake);
/* Returns all datagrams received so far in order, or NULL. The caller owns them. */
struct datagram *inbox_take(struct inbox *box);
/*
 * Receives what was sent before, ends the thread and closes the sockets, so that later senders get
 * an error. Received datagrams can still be taken.
 */
void inbox_stop(struct inbox *box);
/*
 * Ends the thread like inbox_stop(), but keeps the sockets open for another process, which gets
 * what is sent from now on. Returns false if the thread hangs.
 */
bool inbox_pause(struct inbox *box);
/*
 * Requests the thread to stop, without waiting; wake_fd becomes readable when it has. Returns true
 * if inbox_stop() would no longer wait.
 */
bool inbox_request_stop(struct inbox *box);
void inbox_done(struct inbox *box);

#endif

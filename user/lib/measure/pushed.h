/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pushed datagrams on their way into the run: they wait until it is known whether the sender
 * belongs to the run. Also the limits on what is accepted.
 */
#ifndef MEASURE_PUSHED_H
#define MEASURE_PUSHED_H

#include "bpfmon/shared.h"
#include "measure/inbox.h"
#include "run/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Lifetimes of the run's processes by PID, to decide whether a sender was in the run when it sent;
 * it may have ended since.
 */

#define LIVES_KEPT 16384 /* most recently ended ones */

struct life {
	uint32_t pid;
	uint64_t older; /* index + 1 of the previous one in the same slot; 0: none */
	uint64_t start_boot_ns;
	uint64_t end_boot_ns; /* 0: alive */
};

struct senders {
	struct life *ended; /* owned; ring of LIVES_KEPT */
	uint64_t *newest;   /* owned; index + 1 of the last to end in each slot */
	uint64_t nr_ended;
	struct life *alive; /* owned; at the last drain, sorted by PID */
	size_t nr_alive, room_alive;
};

/* Returns 0 or -ENOMEM. */
int senders_init(struct senders *s);
void senders_done(struct senders *s);
/* Takes the last record of a process that has ended or left the run. */
void senders_add_ended(struct senders *s, const struct process_record *r);
/*
 * Takes the @nr rows of a drain as the live processes. Returns 0, or -ENOMEM: none is known then.
 */
int senders_set_alive(struct senders *s, const struct drain_row *rows, size_t nr);
/* Returns true if @pid was a process of the run at @boot_ns (CLOCK_BOOTTIME). */
bool senders_know(const struct senders *s, uint32_t pid, uint64_t boot_ns);

/* Limits for marks, and the same for metrics: */
#define PUSHED_BURST 2000     /* lines at once */
#define PUSHED_PER_SECOND 200 /* lines on average */
/* Bytes of lines as written: 5.3 GiB a day, 327 per line at the full rate. */
#define PUSHED_BYTES_BURST (1UL << 20)
#define PUSHED_BYTES_PER_SECOND (64UL << 10)

/*
 * Bytes of waiting datagrams: in total, of all PIDs not (yet) known to be in the run, and of one
 * such PID, so that other programs cannot take the room of the run's.
 */
#define PUSHED_WAITING_BYTES (4UL << 20)
#define PUSHED_UNKNOWN_BYTES (2UL << 20)
#define PUSHED_SHARE_BYTES (256UL << 10)
#define PUSHED_SHARES 1024

/* A rate limit: each use costs time, and unused time is credit up to a burst. */
struct rate {
	uint64_t at_ns; /* when the credit was last updated; 0: never */
	uint64_t credit_ns;
};

struct allowance {
	struct rate lines, bytes;
	size_t queue_bytes; /* limit of bytes queued for the recorder */
};

struct pushed {
	bool is_on;    /* the inbox is open */
	bool has_come; /* something came through the span desk, possibly without an inbox */
	struct inbox inbox;
	struct senders senders;
	struct datagram *waiting, **last; /* owned */
	size_t nr_waiting, waiting_bytes;
	size_t unknown_bytes;         /* of these, from senders with is_unknown */
	size_t shares[PUSHED_SHARES]; /* of these, by hash of the PID */
	struct allowance marks, metrics;
	struct rate samples;
	uint64_t drains; /* number of drains when senders.alive was set */
	struct pushed_counts counts;
};

void pushed_init(struct pushed *p);
/* Starts the inbox, which then owns the sockets of @intake. Returns 0 or a negative errno. */
int pushed_start(struct pushed *p, const struct intake *intake);
/*
 * Takes ownership of the list @first: appends each datagram, or counts its lines as dropped.
 * @samples is the run's number of samples.
 */
void pushed_put(struct pushed *p, struct datagram *first, uint64_t samples);
/* Does that for the datagrams in the inbox. */
void pushed_receive(struct pushed *p, uint64_t samples);
/*
 * Returns 0, or -EBADMSG with the reason in @why if @text, a mark or metrics, is malformed, or some
 * of its lines are. The reason does not begin with a digit.
 */
int pushed_check(const char *text, size_t length, char *why, size_t size);
/* Frees the waiting datagram *@at and sets *@at to its successor. */
void pushed_remove(struct pushed *p, struct datagram **at);
/* Does that after inbox_pause(). */
void pushed_pause(struct pushed *p, uint64_t samples);
/* Stops the inbox: what was sent before is then waiting or counted. */
void pushed_stop(struct pushed *p, uint64_t samples);
void pushed_done(struct pushed *p);

/* Spends @cost_ns of the credit, which is capped at @burst_ns. Returns false if there is less. */
bool rate_take(struct rate *r, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns);
/* Charges @cost_ns afterwards. What exceeds the credit must elapse before the next use. */
void rate_charge(struct rate *r, uint64_t cost_ns);

#endif

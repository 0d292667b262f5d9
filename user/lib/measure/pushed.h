/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pushed datagrams on their way into the run: they wait here until it is known whether the sender
 * belongs to the run; and the limits of what is taken.
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
 * The lives of the run's processes by PID: whether a sender, which may have ended since, was in the
 * run when it sent.
 */

#define LIVES_KEPT 16384 /* of those that ended last */

/* One process. */
struct life {
	uint32_t pid;
	uint64_t older; /* number + 1 of the previous one in the same slot; 0: none */
	uint64_t start_boot_ns;
	uint64_t end_boot_ns; /* 0: alive */
};

struct senders {
	struct life *ended; /* owned; a ring of LIVES_KEPT */
	uint64_t *newest;   /* owned; number + 1 of the last to end in each slot */
	uint64_t nr_ended;
	struct life *alive; /* owned; as of the last drain, sorted by PID */
	size_t nr_alive, room_alive;
};

/* -ENOMEM. */
int senders_init(struct senders *s);
void senders_done(struct senders *s);
/* Takes the last record of a process, which has ended or left the run. */
void senders_add_ended(struct senders *s, const struct process_record *r);
/* Takes the @nr rows of a drain as the live processes. -ENOMEM: then none is known. */
int senders_set_alive(struct senders *s, const struct drain_row *rows, size_t nr);
/* True if @pid was a process of the run at @boot_ns (CLOCK_BOOTTIME). */
bool senders_know(const struct senders *s, uint32_t pid, uint64_t boot_ns);

/* Of marks and of metrics, each: */
#define PUSHED_BURST 2000     /* lines at once */
#define PUSHED_PER_SECOND 200 /* lines in the long run */
/* The same of bytes, as written: 5.3 GiB a day, 327 a line at the full rate of lines. */
#define PUSHED_BYTES_BURST (1UL << 20)
#define PUSHED_BYTES_PER_SECOND (64UL << 10)

/*
 * Bytes that waiting datagrams may take: those of PIDs not (yet) known to be in the run half of
 * these, and one such PID an eighth of that, so that no other program takes the room of the run's.
 */
#define PUSHED_WAITING_BYTES (4UL << 20)
#define PUSHED_UNKNOWN_BYTES (2UL << 20)
#define PUSHED_SHARE_BYTES (256UL << 10)
#define PUSHED_SHARES 1024

/* A limited rate: each use costs time; unused time is credit, up to a burst. */
struct rate {
	uint64_t at_ns;     /* when the credit was last counted; 0: never */
	uint64_t credit_ns; /* unused time */
};

/* The limits of marks, or of metrics. */
struct allowance {
	struct rate lines, bytes;
	size_t queue_bytes; /* none is taken if more would wait for the recorder */
};

struct pushed {
	bool is_on;    /* there is an inbox, and its senders are kept */
	bool has_come; /* something has, through the span desk: then without an inbox, too */
	struct inbox inbox;
	struct senders senders;
	struct datagram *waiting, **last; /* owned */
	size_t nr_waiting, waiting_bytes;
	size_t unknown_bytes;         /* of these, of datagrams that are is_unknown */
	size_t shares[PUSHED_SHARES]; /* of these, by PID */
	struct allowance marks, metrics;
	struct rate samples;
	uint64_t drains; /* so many had been made when the live senders were set */
	struct pushed_counts counts;
};

void pushed_init(struct pushed *p);
/* Starts the inbox, which owns the sockets of @intake then. 0 or a negative errno. */
int pushed_start(struct pushed *p, const struct intake *intake);
/*
 * Takes ownership of the list @first: appends each datagram to the waiting ones, or counts its
 * lines as dropped. @samples: of the run so far.
 */
void pushed_put(struct pushed *p, struct datagram *first, uint64_t samples);
/* The same of what is in the inbox. */
void pushed_receive(struct pushed *p, uint64_t samples);
/* Frees the waiting datagram *@at, which is its successor then. */
void pushed_remove(struct pushed *p, struct datagram **at);
/* Stops the inbox: what was sent before is waiting then, or counted. */
void pushed_stop(struct pushed *p, uint64_t samples);
void pushed_done(struct pushed *p);

/* Spends @cost_ns of the credit, which never exceeds @burst_ns. False: there is less. */
bool rate_take(struct rate *r, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns);
/* Charges @cost_ns afterwards: what exceeds the credit has to pass before the next use. */
void rate_charge(struct rate *r, uint64_t cost_ns);

#endif

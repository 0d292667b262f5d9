/* SPDX-License-Identifier: BSD-2-Clause */
/* The process of the historian that writes: it reads the stream of the node to its end. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include "agent/history.h"
#include "store/database.h"
#include "store/identity.h"
#include "store/store_writer.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * @is_again: another process had this task before, and the agent is asked to describe all jobs
 * anew. 0 at the end of the stream, or a negative errno, which has been reported.
 */
int recording_run(const struct history_options *o, int stream_fd, int control_fd, bool is_again);

/*
 * The runs of the node that have not ended, or are not yet kept: of each what waits to be written,
 * which is one sample at the most, however long the store cannot be written to.
 */

#define UUID_BYTES 37
#define OPEN_RUN_BUCKETS 4096

struct open_run {
	struct open_run *next, *in_bucket; /* not owned */
	char uuid[UUID_BYTES];
	char *meta, *summary;  /* owned; lines; NULL: it has not come */
	struct sample waiting; /* stands for those since the last one that was written */
	bool has_waiting;
	uint64_t elapsed_ns;   /* of the last sample */
	uint64_t interval_ns;  /* 0: not known */
	uint64_t heard_ns;     /* CLOCK_MONOTONIC: its last line */
	struct store_run kept; /* how far it is in the store */
	uint64_t kept_ns;      /* elapsed, of the last sample there */
	bool is_looked_for;    /* in the store, in case another process began it there */
	bool is_touched;       /* in the current transaction */
	bool has_vanished;     /* it gets no more lines, and had no summary */
	unsigned failures;     /* of transactions, when it was its turn */
};

struct open_runs {
	struct open_run *first; /* owned */
	struct open_run *buckets[OPEN_RUN_BUCKETS];
	size_t nr, nr_ended;
};

/* NULL: there is none. */
struct open_run *open_runs_find(const struct open_runs *all, const char *uuid);
/* NULL: no memory, or there are too many. */
struct open_run *open_runs_add(struct open_runs *all, const char *uuid);
/* Removes the run at *@at, which is the one after it then. */
void open_runs_remove(struct open_runs *all, struct open_run **at);
void open_runs_done(struct open_runs *all);

/* True: there is something to write. Shorter runs than @min_ns are not written. */
bool open_run_is_due(const struct open_run *run, uint64_t min_ns);
/* Writes it, within a transaction. */
int open_run_write(struct open_run *run, struct store_writer *w);
/* The transaction has been committed, or undone: then all is looked for again. */
void open_run_settle(struct open_run *run, bool is_committed);

/*
 * How long runs stay in the store of the node: what is too old or too much goes, step by step. By
 * age nothing goes as long as the clock may be wrong, as after a boot: either it has run without a
 * step for hours of this process, or each of the days that are kept has a run.
 */

struct retention {
	uint64_t keep_ns, keep_bytes;
	uint64_t due_ns;          /* CLOCK_MONOTONIC: the next look for runs that are too old */
	int64_t epoch_of_boot_ns; /* by the clock, at that moment of CLOCK_BOOTTIME: */
	uint64_t steady_since_ns; /* the clock has had no step since; 0: never looked at */
	char self[IDENTITY_BYTES];
};

void retention_init(struct retention *r, uint64_t keep_ns, uint64_t keep_bytes);
/*
 * Removes runs in one short transaction, the oldest first, and gives space back to the file system.
 * Never one that this process writes. Errors as database_open().
 */
int retention_step(struct retention *r, struct database *d);

#endif

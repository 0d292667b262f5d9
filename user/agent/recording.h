/* SPDX-License-Identifier: BSD-2-Clause */
/* The writing process of the historian: stores the stream of the node until its end. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include "agent/history.h"
#include "store/database.h"
#include "store/identity.h"
#include "store/store_writer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * @is_again is set if another process recorded before: the agent then describes all jobs again.
 * Returns 0 at the end of the stream, or a negative errno that has been logged.
 */
int recording_run(const struct history_options *o, int stream_fd, int control_fd, bool is_again);

/*
 * The runs of the node that have not ended or are not stored yet. Each holds at most two samples to
 * be written, however long the store cannot be written to.
 */

#define UUID_BYTES 37

/*
 * A part of a run that is already stored: the same cgroup, measured by an agent that has ended
 * without a summary, or was stopped. The present part continues that run.
 */
struct earlier {
	/* counters at its end; elapsed_ns is the begin of the present part */
	struct sample totals;
	json_t *members; /* owned; those that the meta lines of the present part get */
};

/* A job that is no run of its own: a step of Slurm. */
struct ended_step {
	struct ended_step *next; /* owned */
	uint64_t start_epoch_ns;
	char *name, *summary; /* owned */
};
#define OPEN_RUN_BUCKETS 4096

struct open_run {
	struct open_run *next, *in_bucket; /* not owned */
	char *meta, *summary;              /* owned lines; NULL until they arrive */
	struct sample *unchanged;          /* owned; to be written before the row; NULL: none */
	struct earlier *earlier;  /* owned; what another agent has measured of it; NULL: nothing */
	struct ended_step *steps; /* owned; to be written as spans */
	uint64_t elapsed_ns;      /* of the last sample */
	uint64_t interval_ns;     /* 0 if unknown */
	uint64_t last_line_ns;    /* CLOCK_MONOTONIC */
	unsigned failures;        /* failed writes of this run */
	bool is_searched;      /* searched in the store, where another process may have begun it */
	bool has_new_meta;     /* the meta line in the store is an older one */
	bool is_touched;       /* written in the current transaction */
	bool has_vanished;     /* gets no more lines, and had no summary */
	bool has_row;          /* if not, no sample has come */
	bool is_dirty;         /* the row is to be written */
	bool is_stored;        /* an earlier version of the row is stored, to be replaced */
	bool is_thinned;       /* by the current transaction */
	bool is_folded;        /* has become a span */
	uint64_t begun_ns;     /* elapsed time that the row before covers */
	uint64_t kept_ns;      /* elapsed time of the last row stored */
	uint64_t shown_ns;     /* elapsed time of the last progress stored */
	uint64_t step_ns;      /* that a row covers at least, if samples change */
	size_t nr_rows;        /* stored */
	struct store_run kept; /* its state in the store */
	uint64_t unchanged_ns; /* elapsed time of the last sample equal to the row; 0: none */
	uint64_t unchanged_lifetime;
	struct sample row; /* stands for all samples after begun_ns */
	char uuid[UUID_BYTES];
	char folded_into[UUID_BYTES]; /* the run of which this is a span; empty: none */
};

struct open_runs {
	struct open_run *first; /* owned */
	struct open_run *buckets[OPEN_RUN_BUCKETS];
	size_t nr, nr_ended;
};

/* Returns NULL if there is none. */
struct open_run *open_runs_find(const struct open_runs *all, const char *uuid);
/* Returns NULL if out of memory, or if there are too many runs. */
struct open_run *open_runs_add(struct open_runs *all, const char *uuid);
/* Removes the run at *@at, which then points to the next run. */
void open_runs_remove(struct open_runs *all, struct open_run **at);
void open_runs_done(struct open_runs *all);
/*
 * Called once a store is open: notes the runs that can be continued, and extends each run that its
 * recorder has left to the last time at which that recorder has written anything.
 */
int open_runs_prepare(struct database *d);

#define MOST_SAMPLES 200 /* of a run in the store */

void open_run_take_sample(struct open_run *run, const struct sample *smp);
/* Takes the summary, which is owned by the run then; NULL if memory ran out. */
void open_run_take_summary(struct open_run *run, char *summary);
/*
 * Takes a step of the job @run, which ended with @summary; takes that over. Returns false if out of
 * memory.
 */
bool open_run_take_step(struct open_run *run, uint64_t start_epoch_ns, const char *name,
			char *summary);
/* Returns whether @run has something to write. Runs shorter than @min_ns are not written. */
bool open_run_is_due(const struct open_run *run, uint64_t min_ns);
/* Writes the run, within a transaction. */
int open_run_write(struct open_run *run, struct store_writer *w);
void open_run_free(struct open_run *run);
/*
 * Called when the transaction was committed or rolled back; after a rollback each run is searched
 * in the store again.
 */
void open_run_settle(struct open_run *run, bool is_committed);

/*
 * Retention: runs that are too old, or beyond the size limit, are removed from the store in steps.
 * None is removed by age while the clock may be wrong, as after a boot: the clock must have run
 * without a step for hours of this process, or each of the days kept must have a run.
 */

struct retention {
	uint64_t keep_ns, keep_bytes;
	uint64_t due_ns;          /* next search for runs that are too old, CLOCK_MONOTONIC */
	int64_t epoch_of_boot_ns; /* wall clock at the zero of CLOCK_BOOTTIME */
	uint64_t steady_since_ns; /* CLOCK_BOOTTIME of its last step; 0: never read */
	char self[IDENTITY_BYTES];
};

void retention_init(struct retention *r, uint64_t keep_ns, uint64_t keep_bytes);
/*
 * Removes runs in one short transaction, oldest first, and returns space to the file system. Runs
 * that this process writes are kept. Errors as of database_open().
 */
int retention_step(struct retention *r, struct database *d);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the lines of a run into a store, in the caller's thread: it waits where SQLite does. */
#ifndef STORE_STORE_WRITER_H
#define STORE_STORE_WRITER_H

#include "run/reader.h"
#include "store/database.h"
#include "store/identity.h"

/* How far a run has been written. All zero: nothing of it. */
struct store_run {
	int64_t id; /* its number in the store; 0: no meta line yet */
	int64_t processes, events, spans;
	uint64_t ranked_ns; /* time of the sample of the last process_sample line */
	int64_t rank;       /* of that line within the sample */
	uint64_t wall_ns, cpu_ns, rss_peak_bytes; /* so far */
	struct sample of_block;                   /* of the samples of the unfinished block */
	unsigned in_block;
	bool has_cpu, has_rss;
};

struct store_writer {
	struct database d;
	sqlite3_stmt *sample, *block, *process, *process_sample, *event, *span, *instance,
		*progress;     /* owned */
	struct store_run *run; /* of which lines are put: @own, or one of the caller's */
	struct store_run own;
	int64_t renews;            /* the number that the next run is to have; 0: a free one */
	bool is_import;            /* the lines were recorded earlier, maybe elsewhere */
	size_t failures_before;    /* failed allocations when the transaction began */
	uint64_t unreadable;       /* lines */
	char self[IDENTITY_BYTES]; /* of the process that has opened it */
	struct line line;
};

/* Errors as database_open(), here and below; w->d.why has the reason as text. */
int store_writer_open(struct store_writer *w, const char *path);
void store_writer_close(struct store_writer *w);
/* A transaction: lines are put in between. Only these return -EAGAIN: try again. */
int store_writer_begin(struct store_writer *w);
int store_writer_commit(struct store_writer *w, uint64_t lines_lost);
/* Leaves the run, which gets no more lines; the next meta line begins another. */
int store_writer_next(struct store_writer *w);
/* Rolls back to the begin. */
void store_writer_undo(struct store_writer *w);
/* One line; a line that cannot be parsed is counted and skipped. */
int store_writer_put(struct store_writer *w, const char *text, size_t length);

/*
 * For several runs that are open at once, within one transaction: what is put from now on is of
 * @run, which the caller keeps until it is no longer written; NULL: of the writer's own. After
 * store_writer_undo() each of them is to be zeroed and looked for again.
 */
void store_writer_turn(struct store_writer *w, struct store_run *run);
/* Goes on with the run @uuid, from now on as its writer, if it is there: its id is 0 if not. */
int store_writer_resume(struct store_writer *w, const char *uuid);
int store_writer_put_sample(struct store_writer *w, const struct sample *smp);
/* Notes how far the run has come; its own is noted with each commit. */
int store_writer_note(struct store_writer *w);
/* The same of a run that gets no more lines: without a summary it is unfinished. */
int store_writer_leave(struct store_writer *w);

#endif

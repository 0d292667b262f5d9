/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the lines of runs into a store, in the caller's thread. It blocks where SQLite does. */
#ifndef STORE_STORE_WRITER_H
#define STORE_STORE_WRITER_H

#include "run/reader.h"
#include "store/database.h"
#include "store/identity.h"

/* How far a run has been written. All zero before its meta line. */
struct store_run {
	int64_t id; /* its number in the store; 0 before the meta line */
	int64_t processes, events, spans;
	uint64_t ranked_ns; /* time of the sample of the last process_sample line */
	int64_t rank;       /* of that line within its sample */
	uint64_t wall_ns, cpu_ns, rss_peak_bytes; /* of the samples so far */
	struct sample of_block; /* accumulates @in_block samples of the next block */
	unsigned in_block;
	bool has_cpu, has_rss;
};

struct store_writer {
	struct database d;
	sqlite3_stmt *sample, *block, *process, *process_sample, *event, *span, *instance,
		*progress;     /* owned */
	struct store_run *run; /* run of the lines: @own, or one of the caller's */
	struct store_run own;
	int64_t renews;            /* number for the next run; 0: any */
	bool is_import;            /* the lines were recorded earlier, maybe elsewhere */
	size_t failures_before;    /* failed allocations when the transaction began */
	uint64_t unreadable;       /* number of lines */
	char self[IDENTITY_BYTES]; /* identity of this process */
	struct line line;
};

/*
 * Opens the store @path, and creates it if necessary. Errors as database_open(), here and below;
 * w->d.why has the reason.
 */
int store_writer_open(struct store_writer *w, const char *path);
void store_writer_close(struct store_writer *w);
/*
 * Begin and commit a transaction, in which lines are put. Only these functions return -EAGAIN: try
 * again.
 */
int store_writer_begin(struct store_writer *w);
int store_writer_commit(struct store_writer *w, uint64_t lines_lost);
/* Ends the run, which gets no more lines. The next meta line begins another. */
int store_writer_next(struct store_writer *w);
/* Rolls back the transaction. */
void store_writer_undo(struct store_writer *w);
/* Writes a line. A line that cannot be parsed is counted and skipped. */
int store_writer_put(struct store_writer *w, const char *text, size_t length);

/*
 * Selects the run of the following lines, to write several runs within one transaction. The caller
 * keeps @run until it is no longer written; NULL selects the writer's own. After
 * store_writer_undo() zero each of them and call store_writer_resume() again.
 */
void store_writer_select(struct store_writer *w, struct store_run *run);
/* Continues the run @uuid as its writer. Its id stays 0 if the store has no such run. */
int store_writer_resume(struct store_writer *w, const char *uuid);
/* Writes a row that may stand for several samples: without instances, and in no block. */
int store_writer_put_sample(struct store_writer *w, const struct sample *smp);
/* Writes the progress of the run. A commit does so for the selected run. */
int store_writer_save_progress(struct store_writer *w);
/* Writes the progress of a run that gets no more lines. Without a summary it is unfinished then. */
int store_writer_end_run(struct store_writer *w);

/*
 * Write the rows of the run itself from w->line, at the begin the meta line, at the end the
 * summary; @text is its text. Errors as database_open().
 */
int run_row_begin(struct store_writer *w, const char *text, size_t length);
int run_row_end(struct store_writer *w, const char *text, size_t length);

#endif

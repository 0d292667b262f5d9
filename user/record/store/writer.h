/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the lines of one run into a store. Knows no threads: it waits where SQLite does. */
#ifndef RECORD_STORE_WRITER_H
#define RECORD_STORE_WRITER_H

#include "store/database.h"
#include "wire/reader.h"

struct store_writer {
	struct database d;
	sqlite3_stmt *sample, *block, *process, *process_sample, *event, *progress; /* owned */
	int64_t run;    /* its number in the store; 0: no meta has come */
	int64_t renews; /* the number that the next run is to have; 0: a free one */
	int64_t processes, events;
	uint64_t ranked_ns; /* of the last process_sample: of which sample it was, */
	int64_t rank;       /* and the how manieth there */
	uint64_t wall_ns, cpu_ns, rss_peak_bytes; /* as far as it has come */
	struct sample of_block; /* what the samples of the block that is not full come to */
	unsigned in_block;
	bool has_cpu, has_rss, has_ended;
	bool is_import;         /* of lines that were written some time ago, maybe elsewhere */
	size_t failures_before; /* of allocations, when the transaction began */
	uint64_t unreadable;    /* lines */
	struct line line;
};

/* Errors as database_open(), here and below; w->d.why has the words. */
int store_writer_open(struct store_writer *w, const char *path);
void store_writer_close(struct store_writer *w);
/* Lines are put between the two. Only these say -EAGAIN: try once more. */
int store_writer_begin(struct store_writer *w);
int store_writer_commit(struct store_writer *w, uint64_t lines_lost);
/* What is put from here on is another run, which begins with its meta; nobody records the last. */
int store_writer_next(struct store_writer *w);
/* Takes back what came since the begin. */
void store_writer_undo(struct store_writer *w);
/* Runs a statement whose parameters are bound, and makes it ready for the next time. */
int store_writer_run(struct store_writer *w, sqlite3_stmt *s);
int store_writer_put(struct store_writer *w, const char *text, size_t length);

#endif

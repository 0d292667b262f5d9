/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recorded run, from a file or a store, as a sequence of parts, the meta line first. Everything
 * that shows, draws, compares or exports runs reads them through a source.
 */
#ifndef STORE_SOURCE_H
#define STORE_SOURCE_H

#include "run/reader.h"
#include "store/query.h"

#include <stdint.h>
#include <stdio.h>

struct source;

/*
 * Receives one part, valid until it returns. @line->tree is set for meta, event, metric, span,
 * summary and other; for samples, processes and process samples it may be NULL. A span comes after
 * the spans in it, before or after the processes in it. Other than 0 ends.
 */
typedef int (*source_fn)(void *context, struct line *line);

struct source_ops {
	int (*each)(struct source *s, unsigned parts, source_fn fn, void *context);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops; /* NULL: it is not open */
	void *from;                   /* what the parts come from; of the ops */
	bool is_coarse; /* a long run may have one sample for many: see rows_of_blocks() */
	const struct metric_set *only; /* the metrics of samples and processes to read; NULL: all */
	uint64_t from_ns, to_ns; /* range of the process samples to read, since the start; both 0:
				  * all */
	struct line line;        /* the current part */
	bool is_of_pipe;         /* copied to a file: the path cannot be opened again */
	/* results of the last source_each() */
	bool is_cut;                 /* the last line is not whole */
	uint64_t unreadable;         /* number of other lines that cannot be read */
	const char *without_summary; /* why the run has no summary; NULL: unknown */
	bool is_running;             /* according to its store */
	char why[512];               /* after an error: what is wrong with the store */
};

/* Opens the file of JSON Lines @path, complete or cut off; "-" is stdin. A pipe is copied to a file
 * without a name first: -EFBIG if it has more than source_keep() accepts. Or another negative
 * errno.
 */
int source_open_file(struct source *s, const char *path);
/* Opens the run @id, which is in @state, of the store @path. Errors as database_open(); @s->why has
 * the message then. */
int source_open_stored(struct source *s, const char *path, int64_t id, enum run_state state);
/*
 * Switches a source that source_open_stored() opened with the same @path to the run @id: opening a
 * store takes longer than reading a short run. Returns false, and does nothing, for other sources.
 */
bool source_turn_stored(struct source *s, const char *path, int64_t id, enum run_state state);
void source_close(struct source *s);
/*
 * Passes all parts of the kinds in @parts to @fn, each time from the first one. Returns what @fn
 * returned to end it, or an error: -EBADMSG: it is no run of bpfmon; -EPROTONOSUPPORT: it has
 * another schema; -EMLINK: it has several runs.
 */
int source_each(struct source *s, unsigned parts, source_fn fn, void *context);
/*
 * Reads the summary, or folds it from the lines of a run without one (*@is_folded); free it by
 * summary_done(). Errors as source_each(), and -ENOMEM.
 */
int source_summary(struct source *s, struct summary *total, bool *is_folded);
/* The same as a json_t in *@tree, which the caller owns; NULL after an error. */
int source_summary_tree(struct source *s, void **tree, bool *is_folded);
/* Returns a message for an error of opening or reading. */
const char *source_error(int err);
/* The same; the message of the store is preferred. */
const char *source_why(const struct source *s, int err);

#define SOURCE_KEPT_BYTES (1ULL << 30)

/*
 * Replaces *@f, a pipe, by a copy in a file without a name in /tmp, because a run is read more than
 * once. -EFBIG: it has more than @most_bytes; or another negative errno. After an error *@f is
 * NULL.
 */
int source_keep(FILE **f, uint64_t most_bytes);

#endif

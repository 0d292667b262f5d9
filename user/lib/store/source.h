/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that was recorded, wherever it is kept, given part by part: its meta first. What shows,
 * draws, compares or exports runs reads them here.
 */
#ifndef STORE_SOURCE_H
#define STORE_SOURCE_H

#include "run/reader.h"
#include "store/query.h"

#include <stdint.h>
#include <stdio.h>

struct source;

/*
 * One part. @line->tree is there for the kinds meta, event, metric, span, summary and other; of a
 * sample or a process, or a sample of one, it may be NULL. All of it is in use until the function
 * returns. A span comes when it has ended, before or after the processes in it, and after the spans
 * in it. Other than 0 ends.
 */
typedef int (*source_fn)(void *context, struct line *line);

struct source_ops {
	int (*each)(struct source *s, unsigned parts, source_fn fn, void *context);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops; /* NULL: it is not open */
	void *from;                   /* what the parts come from; of the ops */
	bool is_coarse; /* of a long run samples may be given many at once: see rows_of_blocks() */
	const struct metric_set
		*only;           /* of samples and processes no others are needed; NULL: all */
	uint64_t from_ns, to_ns; /* of process samples no others are needed, by the time since the
				  * start; both 0: all */
	struct line line;        /* the part that is being given */
	bool is_of_pipe;         /* kept in a file: opening the path once more would find nothing */
	/* as the last source_each() found it */
	bool is_cut;                 /* the last line is not whole */
	uint64_t unreadable;         /* other lines that are none */
	const char *without_summary; /* why a run has none; NULL: not known */
	bool is_running;             /* it goes on, as its store has it */
	char why[512];               /* of a store, what is wrong with it, after an error */
};

/* The file of JSON Lines @path, whole or cut off; "-" is stdin. A file without a name takes
 * the place of a pipe, stdin or not: -EFBIG where more comes than source_keep() takes. Or another
 * negative errno. */
int source_open_file(struct source *s, const char *path);
/* Run @id, which is in @state, of the store @path; errors as database_open(), and @s->why has the
 * words, also where @s is not open. */
int source_open_stored(struct source *s, const char *path, int64_t id, enum run_state state);
/*
 * If @s is open, by source_open_stored() with the same @path, it gives run @id of it from then on,
 * as to open a store takes longer than to read a short run. False: it is not, and as it was.
 */
bool source_turn_stored(struct source *s, const char *path, int64_t id, enum run_state state);
void source_close(struct source *s);
/*
 * Gives all parts whose kinds are in @parts, from the first one on, however often it is called.
 * Returns what @fn returned to end, or why it could not be read: -EBADMSG: this is no run of
 * bpfmon's, -EPROTONOSUPPORT: it is one of another schema, -EMLINK: it is several.
 */
int source_each(struct source *s, unsigned parts, source_fn fn, void *context);
/*
 * The summary, to be given to summary_done(); where the run has none, folded of what there is, and
 * *@is_folded. Errors as source_each(), and -ENOMEM.
 */
int source_summary(struct source *s, struct summary *total, bool *is_folded);
/* The same as the line would have it: a json_t in *@tree, the caller's; NULL after an error. */
int source_summary_tree(struct source *s, void **tree, bool *is_folded);
/* Why it could not be opened or read, for the user. */
const char *source_error(int err);
/* The same in the words of its store, if it is in one and these are known. */
const char *source_why(const struct source *s, int err);

/* What comes through a pipe, in a file of its own: a run is read more than once. */

#define SOURCE_KEPT_BYTES (1ULL << 30)

/*
 * Reads *@f to its end into a file without a name in /tmp, which takes its place; *@f is closed.
 * -EFBIG: more than @most_bytes came; no more than these were written. Or another negative errno.
 * After an error *@f is NULL.
 */
int source_keep(FILE **f, uint64_t most_bytes);

#endif

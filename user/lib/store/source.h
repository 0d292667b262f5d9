/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recorded run, from a file or a store, as a sequence of parts, the meta line first. All readers
 * of runs (reports, charts, comparisons, exports) use it.
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
 * summary and other; it may be NULL for samples, processes and process samples. A span comes after
 * the spans within it, before or after its processes. A result other than 0 ends the reading.
 */
typedef int (*source_fn)(void *context, struct line *line);

struct source_ops {
	int (*each)(struct source *s, unsigned parts, source_fn fn, void *context);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops; /* NULL if it is not open */
	void *from;                   /* data of the ops */
	bool is_coarse; /* of a long run read blocks instead of samples: see rows_of_blocks() */
	const struct metric_set *only; /* metrics of samples to read; NULL: all */
	uint64_t from_ns, to_ns;       /* range of process samples, since the start; both 0: all */
	uint64_t samples_from_ns; /* range of samples, without instances; a file passes others, too
				   */
	uint64_t samples_to_ns;   /* 0: all */
	struct line line;         /* current part */
	bool is_of_pipe; /* it was a pipe, and is a copy now: the path cannot be opened again */
	/* results of the last source_each(): */
	bool is_cut;                 /* the last line is incomplete */
	uint64_t unreadable;         /* number of other lines that could not be parsed */
	const char *without_summary; /* why the run has no summary; NULL: unknown */
	bool is_running;             /* as determined when the store was queried */
	char why[512];               /* message of the store after an error */
};

/*
 * Opens the JSON Lines file @path, complete or cut off; "-" is stdin. A pipe is copied by
 * source_copy_pipe() first. Returns 0, -EFBIG if a pipe has more than SOURCE_KEPT_BYTES, or another
 * negative errno.
 */
int source_open_file(struct source *s, const char *path);
/*
 * Opens the run @id, in @state, of the store @path. Errors as database_open(); @s->why has the
 * message.
 */
int source_open_stored(struct source *s, const char *path, int64_t id, enum run_state state);
/*
 * Switches a source of source_open_stored() with the same @path to the run @id, because opening a
 * store takes longer than reading a short run. Returns false, and does nothing, for other sources.
 */
bool source_switch_stored(struct source *s, const char *path, int64_t id, enum run_state state);
void source_close(struct source *s);
/*
 * Passes the parts of the kinds in @parts to @fn, from the first on. Returns the result of @fn that
 * ended it, -EBADMSG if it is not a run of bpfmon, -EPROTONOSUPPORT if it has another schema,
 * -EMLINK if it holds several runs, or another negative errno.
 */
int source_each(struct source *s, unsigned parts, source_fn fn, void *context);
/*
 * Reads the summary, or computes it from the lines if the run has none (*@is_folded). Free it with
 * summary_done(). Errors as source_each(), and -ENOMEM.
 */
int source_summary(struct source *s, struct summary *total, bool *is_folded);
/* Returns the summary as a json_t in *@tree, which the caller owns; NULL after an error. */
int source_summary_tree(struct source *s, void **tree, bool *is_folded);
/* Returns the message for an error of opening or reading. */
const char *source_error(int err);
/* Returns the message for an error, preferably that of the store. */
const char *source_why(const struct source *s, int err);

#define SOURCE_KEPT_BYTES (1ULL << 30)

/*
 * Replaces *@f, a pipe, by a copy in an unnamed file in /tmp, because a run is read more than once.
 * Returns -EFBIG if it has more than @most_bytes, or another negative errno; then *@f is NULL.
 */
int source_copy_pipe(FILE **f, uint64_t most_bytes);

#endif

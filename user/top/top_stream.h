/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads lines from a file that may still grow, a pipe, the feed of a running run, or a run of a
 * store. Each turn is bounded, so that keys are answered in between.
 */
#ifndef TOP_TOP_STREAM_H
#define TOP_TOP_STREAM_H

#include "top/model.h"

#include "base/line_stream.h"

#include <sys/types.h>

#define STREAM_WHY_BYTES 512

struct stream {
	int fd;             /* owned; -1 after the end */
	int control_fd;     /* owned; closing it ends the stream of an agent; -1 for none */
	bool is_connecting; /* the agent has not answered at @control_fd yet */
	bool is_file;       /* may grow */
	bool has_ended;     /* nothing more will come */
	bool is_stale;      /* a file that has not grown for some time */
	off_t size, at;     /* of a file */
	struct line_stream lines;
	struct line line;
	struct model *model;
	int err;                     /* error of a line */
	uint64_t silent_since_ns;    /* CLOCK_MONOTONIC; set at the end of a file */
	char why[STREAM_WHY_BYTES];  /* reason of an error */
	char note[STREAM_WHY_BYTES]; /* what is missing */
};

/*
 * Opens the file @path, "-" for stdin. Like the functions below, returns 0, or a negative errno
 * with the reason in @s->why.
 */
int stream_open_file(struct stream *s, struct model *m, const char *path);
/*
 * Opens run @id of the store @path: its past and, if @is_running, its live feed. If the feed cannot
 * be opened, the stream has only the past, and @s->note has the reason.
 */
int stream_open_stored(struct stream *s, struct model *m, const char *path, int64_t id,
		       bool is_running);
/*
 * Opens the job @id of the agent at @agent, from now on, with its processes. Does not wait for the
 * answer: stream_read() fails if there is no such job.
 */
int stream_open_job(struct stream *s, struct model *m, const char *agent, const char *id);
/* Opens the feed of a run by its "live_socket", from now on, with its processes. */
int stream_open_live(struct stream *s, struct model *m, const char *socket_name);
/* Returns the descriptor that is readable when stream_read() has input, or -1 at the end. */
int stream_fd(const struct stream *s);
/*
 * Reads for some milliseconds. Returns 1 if there is more to read at once, 0, or a negative errno
 * with the reason in @s->why.
 */
int stream_read(struct stream *s);
void stream_done(struct stream *s);

#endif

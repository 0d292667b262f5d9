/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where lines come from: a file that is whole, cut or still growing, a pipe, the feed of a running
 * run, a run of a store. What is read in one turn is bounded, so that keys are answered meanwhile.
 */
#ifndef TOP_TOP_STREAM_H
#define TOP_TOP_STREAM_H

#include "top/model.h"

#include "base/line_stream.h"

#include <sys/types.h>

#define STREAM_WHY_BYTES 512

struct stream {
	int fd;         /* owned; -1: nothing more comes */
	int control_fd; /* owned, of an agent, which ends the stream when it is closed; -1 */
	bool is_asked;  /* the agent, which has not answered yet: that is awaited at control_fd */
	bool is_file;   /* it may grow */
	bool has_ended; /* nothing more will come */
	bool is_stale;  /* a file at whose end nothing came for some time */
	off_t size, at; /* of a file */
	struct line_stream lines;
	struct line line;
	struct model *model;
	int err;                     /* of a line */
	uint64_t silent_since_ns;    /* CLOCK_MONOTONIC; of a file at its end */
	char why[STREAM_WHY_BYTES];  /* after an error */
	char note[STREAM_WHY_BYTES]; /* what is missing */
};

/* Open a source. Return 0, or a negative errno with @s->why. The file @path, "-" for stdin: */
int stream_open_file(struct stream *s, struct model *m, const char *path);
/*
 * Run @id of the store @path: its past, and if it @is_running, its live feed. If that cannot be
 * opened, only its past, and @s->note has the reason.
 */
int stream_open_stored(struct stream *s, struct model *m, const char *path, int64_t id,
		       bool is_running);
/*
 * The job @id of the agent at @agent, from now on, with its processes. Does not wait for the
 * answer: if there is no such job, stream_read() fails.
 */
int stream_open_job(struct stream *s, struct model *m, const char *agent, const char *id);
/* A run by its "live_socket", from now on, with its processes. */
int stream_open_live(struct stream *s, struct model *m, const char *socket_name);
/* Returns the descriptor that is readable when stream_read() has input; -1 if there will be none.
 */
int stream_fd(const struct stream *s);
/* Reads for some milliseconds. Returns 1 if there is more at once, 0, or a negative errno with
 * @s->why. */
int stream_read(struct stream *s);
void stream_done(struct stream *s);

#endif

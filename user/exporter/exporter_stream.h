/* SPDX-License-Identifier: BSD-2-Clause */
/* The stream of the agent: opens it, and puts its lines on the board. */
#ifndef EXPORTER_EXPORTER_STREAM_H
#define EXPORTER_EXPORTER_STREAM_H

#include "base/line_stream.h"
#include "exporter/board.h"
#include "exporter/exporter_options.h"
#include "run/reader.h"

#define STREAM_LINE_BYTES (4 << 20) /* the longest line that is taken */

/*
 * Opens the stream. A descriptor to read lines from, which does not block if it is a socket and is
 * to be closed by the caller; or a negative errno, and @why is what failed and why.
 */
int stream_open(const struct exporter_options *o, char *why, size_t size);
/* Whether it can be opened again after its end. */
bool stream_is_socket(const struct exporter_options *o);

/* Takes the lines of the agent's stream into a board. */
struct intake {
	struct board *board; /* not owned */
	struct line line;    /* owned */
};

/* Takes one line of @length bytes, which is parsed without the lock of the board. A line that
 * cannot be understood is counted. */
void intake_take(struct intake *in, const char *text, size_t length, uint64_t now_ns);
/* A line was too long to be read. */
void intake_refuse(struct intake *in);
void intake_done(struct intake *in);

#endif

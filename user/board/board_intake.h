/* SPDX-License-Identifier: BSD-2-Clause */
/* The stream of the agent: opens it and applies its lines to the board. */
#ifndef BOARD_BOARD_INTAKE_H
#define BOARD_BOARD_INTAKE_H

#include "base/line_stream.h"
#include "board/board.h"
#include "run/reader.h"

#define STREAM_LINE_BYTES (4 << 20) /* longest accepted line */

/*
 * Opens @stream: agent:SOCKET, unix:PATH, FILE or - for standard input. Returns a descriptor that
 * the caller closes, non-blocking if it is a socket, or a negative errno with what failed, and why,
 * in @why.
 */
int stream_open(const char *stream, char *why, size_t size);
/* Returns the socket of a stream that is an agent's, part of @stream; NULL for another. */
const char *stream_agent_socket(const char *stream);
/* Returns whether the stream can be opened again after its end. */
bool stream_is_socket(const char *stream);

/* Applies lines of the agent's stream to a board. */
struct intake {
	struct board *board; /* not owned */
	struct line line;    /* owned */
};

/*
 * Applies one line of @length bytes; parses it without holding the lock of the board. A malformed
 * line is counted.
 */
void intake_apply_line(struct intake *in, const char *text, size_t length, uint64_t now_ns);
/*
 * Read a meta line, and the figures of a summary line. The texts of @begin are valid until the next
 * line. Returns 0, or a negative errno if it is no meta line of a job.
 */
int run_begin_read(struct run_begin *begin, const struct line *meta);
void ended_read(struct ended_values *e, const json_t *summary);
/* Counts a line that was too long to be read. */
void intake_refuse(struct intake *in);
void intake_done(struct intake *in);

#endif

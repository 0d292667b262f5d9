/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines from a descriptor, passed on as they arrive; too long ones are skipped. */
#ifndef BASE_LINE_STREAM_H
#define BASE_LINE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

struct line_stream {
	size_t most; /* length of the longest line that is passed on */
	char *text;  /* owned; bytes of an incomplete line */
	size_t used, room;
	bool is_skipping; /* within a line that is too long */
};

/* Gets a line of @length bytes with its newline, or @text NULL for one that was too long. */
typedef void (*line_stream_fn)(void *context, const char *text, size_t length);

/*
 * Reads once and passes on each complete line. Returns 0, -ENODATA at the end of the stream, or
 * another negative errno.
 */
int line_stream_read(struct line_stream *s, int fd, line_stream_fn fn, void *context);
/* Drops an incomplete line, after the stream was opened anew. */
void line_stream_reset(struct line_stream *s);
void line_stream_done(struct line_stream *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines from a descriptor, as they come; one that is too long is left out. */
#ifndef BASE_LINE_STREAM_H
#define BASE_LINE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that have been read, but are no whole line yet. */
struct line_stream {
	size_t most; /* bytes of the longest line that is taken */
	char *text;  /* owned */
	size_t used, room;
	bool is_skipping; /* the rest of a line that is too long */
};

/* A line of @length bytes with its end; a @text of NULL: one that was too long. */
typedef void (*line_stream_fn)(void *context, const char *text, size_t length);

/* Reads what there is, once, and passes on each line that is whole. 0; -ENODATA: the stream has
 * ended; another negative errno. */
int line_stream_read(struct line_stream *s, int fd, line_stream_fn fn, void *context);
/* Forgets the beginning of a line: the stream was opened anew. */
void line_stream_reset(struct line_stream *s);
void line_stream_done(struct line_stream *s);

#endif

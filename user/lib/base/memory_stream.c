// SPDX-License-Identifier: BSD-2-Clause
/* open_memstream() that reports errors: the C library's drops what it has no memory for, and
 * fclose() succeeds as if the text were complete. */
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory_stream {
	char **text;
	size_t *length;
	char *all; /* becomes the caller's when the stream is closed */
	size_t used, room;
	bool has_failed;
};

FILE *__wrap_open_memstream(char **text, size_t *length);

static bool memory_stream_reserve(struct memory_stream *s, size_t n)
{
	size_t room = (s->used + n + 1) * 2;
	char *all;

	if (s->used + n < s->room)
		return true;
	all = realloc(s->all, room);
	if (!all) {
		s->has_failed = true;
		return false;
	}
	s->all = all;
	s->room = room;
	return true;
}

static ssize_t memory_stream_write(void *context, const char *from, size_t n)
{
	struct memory_stream *s = context;

	if (s->has_failed || !memory_stream_reserve(s, n))
		return 0; /* an error, to the C library */
	memcpy(s->all + s->used, from, n);
	s->used += n;
	return (ssize_t)n;
}

/* For ftell() alone: what was written stays where it is. */
static int memory_stream_seek(void *context, off64_t *offset, int whence)
{
	const struct memory_stream *s = context;

	if (whence == SEEK_SET || *offset) {
		errno = ESPIPE;
		return -1;
	}
	*offset = (off64_t)s->used;
	return 0;
}

/* The caller gets the text only now. */
static int memory_stream_close(void *context)
{
	struct memory_stream *s = context;
	bool is_whole = !s->has_failed && memory_stream_reserve(s, 0);

	if (is_whole) {
		s->all[s->used] = '\0';
		*s->text = s->all;
		*s->length = s->used;
	} else {
		free(s->all);
	}
	free(s);
	return is_whole ? 0 : -1;
}

FILE *__wrap_open_memstream(char **text, size_t *length)
{
	struct memory_stream *s = calloc(1, sizeof(*s));
	FILE *f;

	*text = NULL;
	*length = 0;
	if (!s)
		return NULL;
	s->text = text;
	s->length = length;
	f = fopencookie(s, "w",
			(cookie_io_functions_t){ .write = memory_stream_write,
						 .seek = memory_stream_seek,
						 .close = memory_stream_close });
	if (!f) {
		memory_count_failure();
		free(s);
	}
	return f;
}

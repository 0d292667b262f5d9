// SPDX-License-Identifier: BSD-2-Clause
#include "base/line_stream.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 << 10)

static int line_stream_make_room(struct line_stream *s)
{
	size_t room = s->room ? s->room * 2 : READ_BYTES * 2;
	char *text;

	if (s->room - s->used >= READ_BYTES)
		return 0;
	text = memory_realloc(s->text, room);
	if (!text)
		return -ENOMEM;
	s->text = text;
	s->room = room;
	return 0;
}

/* Passes on complete lines. The first @searched bytes contain no newline. */
static void line_stream_pass_lines(struct line_stream *s, size_t searched, line_stream_fn fn,
				   void *context)
{
	char *at = s->text, *end = s->text + s->used, *stop;

	for (char *from = at + searched; (stop = memchr(from, '\n', (size_t)(end - from)));) {
		stop++;
		if (s->is_skipping)
			fn(context, NULL, 0);
		else
			fn(context, at, (size_t)(stop - at));
		s->is_skipping = false;
		at = from = stop;
	}
	s->used = (size_t)(end - at);
	memmove(s->text, at, s->used);
	if (s->used > s->most)
		s->is_skipping = true;
	if (s->is_skipping)
		s->used = 0;
}

int line_stream_read(struct line_stream *s, int fd, line_stream_fn fn, void *context)
{
	size_t searched = s->used;
	int err = line_stream_make_room(s);
	ssize_t n;

	if (err)
		return err;
	n = read(fd, s->text + s->used, READ_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (!n)
		return -ENODATA;
	s->used += (size_t)n;
	line_stream_pass_lines(s, searched, fn, context);
	return 0;
}

void line_stream_reset(struct line_stream *s)
{
	s->used = 0;
	s->is_skipping = false;
}

void line_stream_done(struct line_stream *s)
{
	free(s->text);
	*s = (struct line_stream){ .most = s->most };
}

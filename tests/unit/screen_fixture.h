/* SPDX-License-Identifier: BSD-2-Clause */
/* A terminal of 40 columns and 10 rows, and what was written to it. */
#ifndef TESTS_UNIT_SCREEN_FIXTURE_H
#define TESTS_UNIT_SCREEN_FIXTURE_H

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct screen {
	int master, fd; /* fd: what a program writes to */
	char text[4096];
};

static inline int screen_make(void **state)
{
	struct winsize size = { .ws_row = 10, .ws_col = 40, .ws_ypixel = 100 };
	struct screen *s = calloc(1, sizeof(*s));

	*state = s;
	if (!s || openpty(&s->master, &s->fd, NULL, NULL, &size))
		return -1;
	return setenv("TERM", "xterm-256color", 1);
}

static inline int screen_remove(void **state)
{
	struct screen *s = *state;

	close(s->fd);
	close(s->master);
	free(s);
	return 0;
}

#define SCREEN_END '\1' /* no program writes it */

/*
 * What was written since the last call. The kernel passes it on later and in parts, in the order of
 * writing: it is complete at the end mark.
 */
static inline const char *screen_read(struct screen *s)
{
	const char mark = SCREEN_END;
	size_t used = 0;
	ssize_t n = write(s->fd, &mark, 1);

	while (n > 0 && !memchr(s->text, mark, used)) {
		n = read(s->master, s->text + used, sizeof(s->text) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	s->text[used ? used - 1 : 0] = '\0';
	return s->text;
}

#endif

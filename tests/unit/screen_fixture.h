/* SPDX-License-Identifier: BSD-2-Clause */
/* A terminal of 40 columns and 10 rows, and what was written to it. */
#ifndef TESTS_UNIT_SCREEN_FIXTURE_H
#define TESTS_UNIT_SCREEN_FIXTURE_H

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
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
	setenv("TERM", "xterm-256color", 1);
	return fcntl(s->master, F_SETFL, O_NONBLOCK);
}

static inline int screen_remove(void **state)
{
	struct screen *s = *state;

	close(s->fd);
	close(s->master);
	free(s);
	return 0;
}

/* What was written since the last call. */
static inline const char *screen_read(struct screen *s)
{
	ssize_t n = read(s->master, s->text, sizeof(s->text) - 1);

	s->text[n > 0 ? n : 0] = '\0';
	return s->text;
}

#endif

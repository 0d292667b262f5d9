/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal, by ncurses: cells go out, keys come in. Nothing else of top knows of it. */
#ifndef TOP_CURSES_H
#define TOP_CURSES_H

#include "top/screen.h"

/* Takes the terminal of stdout over; keys come from @keys_fd. A negative errno, and @why. */
int curses_open(int keys_fd, char *why, size_t size);
/* Gives it back as it was. May be called twice. */
void curses_close(void);
/* The size that it has now. */
void curses_size(int *width, int *height);
/* The next key that waits, of enum view_key or a character; 0: none. */
int curses_key(void);
/* Shows the screen: what has changed since the last time, or @all. */
void curses_show(const struct screen *s, bool all);

#endif

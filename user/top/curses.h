/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of screens to the terminal and input of keys, by ncurses. No other file of top uses
 * ncurses.
 */
#ifndef TOP_CURSES_H
#define TOP_CURSES_H

#include "top/screen.h"

/*
 * Takes over the terminal of stdout; keys are read from @keys_fd. Returns 0, or a negative errno
 * with the reason in @why.
 */
int curses_open(int keys_fd, char *why, size_t size);
/* Restores the terminal. May be called twice. */
void curses_close(void);
void curses_size(int *width, int *height);
/* Returns the next key, of enum view_key or a character, or 0 if none is waiting. */
int curses_key(void);
/* Stores the cell of the last key of the mouse. */
void curses_mouse(int *x, int *y);
/* Shows the cells that changed since the last call, or @all. */
void curses_show(const struct screen *s, bool all);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of top: terminal, keys, stream and signals in one loop. */
#ifndef TOP_SESSION_H
#define TOP_SESSION_H

#include "top/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The command line of bpfmon-top, which `bpfmon top` generates. */

#define MAX_STORES 64

struct top_options {
	bool shows_help, shows_version;
	const char *file; /* NULL for a run of a store, or for the list of running runs */
	const char *stores[MAX_STORES];
	size_t nr_stores;
	int64_t run;       /* in the first store; 0 for the list */
	bool is_running;   /* the run has not ended: read its feed */
	const char *label; /* title of what is shown; NULL for its own name */
	const char *agent; /* socket of an agent, whose jobs are listed; may be NULL */
	const char *job;   /* job of the agent to show; may be NULL */
	int32_t pid;       /* process to select first; 0 for none */
};

/* Runs the session. Returns the exit status. A failure has been reported in one line. */
int session_run(const struct top_options *o);

/*
 * Output of screens to the terminal and input of keys, by ncurses. No other file of top uses
 * ncurses.
 */

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

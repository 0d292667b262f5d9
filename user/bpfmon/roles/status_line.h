/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status line of --live as the launcher draws it: the recorder makes its text, but the launcher
 * is of the terminal's session, gets its signals, and outlives the roles.
 */
#ifndef ROLES_STATUS_LINE_H
#define ROLES_STATUS_LINE_H

#include "base/bottom_row.h"
#include "base/message.h"

struct status_line {
	int fd; /* to the recorder, not owned; -1: nothing comes any more */
	struct bottom_row row;
	bool is_inverse;
	struct control last; /* its text; empty: there is none to show */
};

/*
 * Whether stderr is a terminal that can show it; says with --verbose why not. To be called before
 * the recorder is forked; then fd can be set.
 */
bool status_line_open(struct status_line *s);
/*
 * Draws the last text that has come, or draws it again for another size of the terminal; none while
 * another job of the shell has the terminal.
 */
void status_line_advance(struct status_line *s);
/* Gives the terminal back: until the next text. */
void status_line_release(struct status_line *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status line of --live. The recorder formats its text and the launcher draws it, because the
 * launcher belongs to the terminal's session, receives its signals and outlives the roles.
 */
#ifndef ROLES_STATUS_LINE_H
#define ROLES_STATUS_LINE_H

#include "base/message.h"

struct status_line {
	int fd; /* to the recorder, not owned; -1: closed */
	bool is_inverse, is_drawn;
	struct control last; /* the last text; empty: none to show */
};

/*
 * Returns true if stderr is a terminal that can show it; else reports the reason with --verbose.
 * Call it before forking the recorder; the caller sets fd afterwards.
 */
bool status_line_open(struct status_line *s);
/*
 * Draws the last received text over the one before, unless another job of the shell is in the
 * foreground.
 */
void status_line_advance(struct status_line *s);
/* Clears the line before other output of bpfmon or the shell, until the next text. */
void status_line_release(struct status_line *s);

#endif

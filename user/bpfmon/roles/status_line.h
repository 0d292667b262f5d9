/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status line of --live as the launcher draws it: the recorder makes its text, but the launcher
 * is of the terminal's session, gets its signals, and outlives the roles.
 */
#ifndef ROLES_STATUS_LINE_H
#define ROLES_STATUS_LINE_H

#include "base/message.h"

struct status_line {
	int fd; /* to the recorder, not owned; -1: nothing comes any more */
	bool is_inverse, is_drawn;
	struct control last; /* its text; empty: there is none to show */
};

/*
 * Whether stderr is a terminal that can show it; says with --verbose why not. To be called before
 * the recorder is forked; then fd can be set.
 */
bool status_line_open(struct status_line *s);
/*
 * Draw the last text that has come over the one before; none while another job of the shell has the
 * terminal.
 */
void status_line_advance(struct status_line *s);
/* Clear the line, before other output of ours or of the shell; until the next text. */
void status_line_release(struct status_line *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpfmon why says below the reason. */
#ifndef BPFMON_WHY_NOTES_H
#define BPFMON_WHY_NOTES_H

#include "waits/waits.h"

/* How to see the stack that the runtime of a process keeps, of Python say. */
struct stack_note {
	pid_t pid; /* 0: none of the chain has such a runtime */
	char command[64];
	const char *tool; /* that is needed */
	bool is_installed;
};

void stack_note_find(struct stack_note *n, const struct waits *w, const struct wait_reason *r);

/* Work that another process does for one that is asked about, as a server for its client. */
struct outside_note {
	const struct wait *client; /* NULL: there is none */
	pid_t pid;                 /* of the other process */
	const char *comm;
};

/* The first that waits for a process at the other end of a socket, which is neither asked about nor
 * a descendant of those. */
void outside_note_find(struct outside_note *n, const struct waits *w);

#endif

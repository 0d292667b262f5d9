/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of a run, for its meta line, as a message from the process that starts it: name,
 * tags, command, user, limits, container, variables, revision. Nothing of it is opened, executed or
 * used for anything but that line.
 */
#ifndef RUN_DESCRIPTION_H
#define RUN_DESCRIPTION_H

#include "base/json.h"
#include "run/run.h"

#define DESCRIPTION_BYTES (8UL << 20) /* the most that one has: a command may have 2 MiB */

/* What the pointers of a run that was read point into. */
struct described {
	void *tree;           /* owned */
	const char **command; /* owned */
	struct meta meta;
};

/* Appends the message to @j: what the caller of bpfmon knows of @run, its meta included. */
void description_write(struct jsonw *j, const struct run *run);
/*
 * Reads a message into @run, whose pointers are into @d from then on; other members of it are left.
 * -EBADMSG, -ENOMEM: @why is a sentence without a full stop, and some of it may have been read.
 */
int description_read(struct described *d, const char *text, size_t length, struct run *run,
		     char *why, size_t size);
void described_done(struct described *d);

#endif

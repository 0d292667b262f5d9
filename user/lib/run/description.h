/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of a run for its meta line, sent as a message by the process that starts the run:
 * name, tags, command, user, limits, container, variables, revision. The receiver opens and
 * executes nothing that it names; the values are only written to the meta line.
 */
#ifndef RUN_DESCRIPTION_H
#define RUN_DESCRIPTION_H

#include "base/json.h"
#include "run/run.h"

#define DESCRIPTION_BYTES (8UL << 20) /* largest message; a command may have 2 MiB */

/* Storage for the pointers of a run that description_read() has filled in. */
struct described {
	void *tree;           /* owned */
	const char **command; /* owned */
	struct meta meta;
};

/* Appends @run, its meta included, as known to the caller of bpfmon, to @j. */
void description_write(struct jsonw *j, const struct run *run);
/*
 * Reads a message into @run. The pointers of @run point into @d until described_done(); members
 * without a key keep their values. Returns 0, -ENOMEM, or -EBADMSG with the reason in @why, a
 * sentence without a full stop. On error @run may be partly filled in.
 */
int description_read(struct described *d, const char *text, size_t length, struct run *run,
		     char *why, size_t size);
void described_done(struct described *d);

#endif

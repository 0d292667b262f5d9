/* SPDX-License-Identifier: BSD-2-Clause */
/* What another program says: run without a shell, and not for longer than we have patience. */
#ifndef CONTAINER_CAPTURE_H
#define CONTAINER_CAPTURE_H

#include "base/user.h"

#include <stdint.h>

/* Where programs are looked for instead of PATH under sudo, or as a program with set-user-ID. */
#define CAPTURE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct captured {
	char *text;           /* its stdout; owned, ends with a NUL */
	char error_line[256]; /* the last line of its stderr, which can be shown on a terminal */
	int status;           /* what it exited with, or 128 + the signal that ended it */
};

/*
 * Runs @argv, found in PATH, in the root folder, without stdin and terminal: as @as with his
 * environment where that is not NULL, which needs root; else as we are, and if our rights are lent
 * (user_rights_are_lent()) found in CAPTURE_PATH, with no variable of the caller's. 0: it ended by
 * itself; -ENOENT: there is no such program; -ETIMEDOUT: it had not ended after @limit_ns and was
 * killed, with what it had started; -EMSGSIZE: it said more than 4 MiB; or another negative errno.
 * In any case capture_done() gives back what it said.
 */
int capture_run(const char *const *argv, const struct user *as, uint64_t limit_ns,
		struct captured *c);
void capture_done(struct captured *c);

#endif

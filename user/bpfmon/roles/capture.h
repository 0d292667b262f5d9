/* SPDX-License-Identifier: BSD-2-Clause */
/* The output of another program, run without a shell and with a limit of time. */
#ifndef ROLES_CAPTURE_H
#define ROLES_CAPTURE_H

#include "base/user.h"

#include <stdint.h>

/* The PATH under sudo, or of a set-user-ID bpfmon. */
#define CAPTURE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct captured {
	char *text;           /* its stdout; owned, ends with a NUL */
	char error_line[256]; /* the last line of its stderr, which can be shown on a terminal */
	int status;           /* what it exited with, or 128 + the signal that ended it */
};

/*
 * Runs @argv, found in PATH, in the root folder, with an empty stdin and no terminal. @as: the user
 * to run it as, with that user's environment, which needs root. NULL: as the effective user; if the
 * rights are lent (user_rights_are_lent()), found in CAPTURE_PATH, without any variable of the
 * caller's. 0: it ended by itself; -ENOENT: there is no such program; -ETIMEDOUT: it was killed
 * after @limit_ns, with what it had started; -EMSGSIZE: it wrote more than 4 MiB; or another
 * negative errno. In any case capture_done() frees @c.
 */
int capture_run(const char *const *argv, const struct user *as, uint64_t limit_ns,
		struct captured *c);
void capture_done(struct captured *c);

#endif

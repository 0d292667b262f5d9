/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs another program without a shell, with a time limit, and captures its output. */
#ifndef ROLES_CAPTURE_H
#define ROLES_CAPTURE_H

#include "base/user.h"

#include <stdint.h>

/* The PATH used under sudo or by a set-user-ID bpfmon. */
#define CAPTURE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct captured {
	char *text;           /* stdout; owned, NUL-terminated */
	char error_line[256]; /* last line of stderr, safe to show on a terminal */
	int status;           /* exit status, or 128 + the signal that ended the program */
};

/*
 * Runs @argv, found in PATH, in the root folder with an empty stdin and no terminal. @as is the
 * user to run it as, with that user's environment, which needs root. NULL: as the effective user;
 * if the rights are lent (user_rights_are_lent()), it is found in CAPTURE_PATH and gets no variable
 * of the caller.
 *
 * Returns 0 if it ended by itself, -ENOENT if there is no such program, -ETIMEDOUT if it was killed
 * after @limit_ns with all that it had started, -EMSGSIZE if it wrote more than 4 MiB, or another
 * negative errno. The caller calls capture_done() in any case.
 */
int capture_run(const char *const *argv, const struct user *as, uint64_t limit_ns,
		struct captured *c);
void capture_done(struct captured *c);

#endif

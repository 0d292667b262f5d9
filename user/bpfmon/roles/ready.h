/* SPDX-License-Identifier: BSD-2-Clause */
/* The time before the command runs, which any request to end cuts short. */
#ifndef ROLES_READY_H
#define ROLES_READY_H

#include "bpfmon/roles/roles.h"

/*
 * Makes stdout and stderr of this process, and of the roles after it, ones that never block where
 * that is possible: nothing ends a process that blocks in write(2), with its signals blocked. Those
 * of the command, forked before, stay.
 */
void streams_unblock(void);

/*
 * Waits until both roles may begin. 0; else a negative errno: after one line to the user, or, with
 * a signal in *@sig that is not 0, -EINTR and no line. Without BPF orphans become children of this
 * process, and it finds those that are its own, without @command.
 */
int roles_wait_until_ready(struct roles *roles, pid_t command, int signal_fd, int *sig);
/*
 * The same until the command's process has executed, or could not: spawn_result() then does not
 * block. When that takes longer than a second, as on a file system that does not answer, a
 * request is passed on to the process, and the second kills it.
 */
void command_wait_for_exec(const struct spawn *command, int signal_fd);

#endif

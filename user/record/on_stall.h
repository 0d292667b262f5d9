/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command of --on-stall. The recorder, which cannot execute anything once it has its filter of
 * system calls, makes a process for it before: that one waits for stalls, and does nothing else.
 */
#ifndef RECORD_ON_STALL_H
#define RECORD_ON_STALL_H

/*
 * Makes that process, with the rights that the caller has now; it ends when the descriptor that is
 * returned, the caller's, is closed by all and what has been asked for is done. A negative errno.
 */
int on_stall_start(const char *command);
/* Has the command executed once, with @reason in BPFMON_STALL_REASON; never waits. */
void on_stall_execute(int fd, const char *reason);

#endif

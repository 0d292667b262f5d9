/* SPDX-License-Identifier: BSD-2-Clause */
/* Forwarding of signals from bpfmon to the command. */
#ifndef ROLES_LAUNCH_SIGNALS_H
#define ROLES_LAUNCH_SIGNALS_H

#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/*
 * Blocks the signals to forward and stores the previous mask in @old. Returns a descriptor, or -1,
 * that reads only signals that may request the end: all others stay pending until
 * signals_read_all().
 */
int signals_open(sigset_t *old);
/*
 * Makes @fd read all signals. Returns the timeout for poll() in ms: -1, or less time if this
 * failed, because @fd then does not report exits of children.
 */
int signals_read_all(int fd);
/*
 * Returns true if the command has not received the signal yet. A signal of the terminal goes to the
 * whole process group, and one sent by a process of the command is meant for bpfmon and its group.
 */
bool signals_is_to_forward(const struct signalfd_siginfo *si, pid_t command);
/*
 * Stops this process, as the command has been stopped by @sig, so that the shell sees it. Returns
 * true when continued, by a SIGCONT that can then be read; or false, without stopping, if no shell
 * is waiting.
 */
bool signals_stop_self(int sig);
/*
 * Returns true if this process or a descendant is in the foreground of stderr's terminal; false if
 * a shell's prompt or another job is.
 */
bool signals_have_terminal(void);
/* Ends this process by @sig, without a core dump. Returns only if that is not possible. */
void signals_die(int sig);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals to bpfmon are the command's. */
#ifndef ROLES_LAUNCH_SIGNALS_H
#define ROLES_LAUNCH_SIGNALS_H

#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/*
 * Blocks what is to be forwarded; @old: the mask before. Returns a descriptor, or -1, that reads
 * only what may request the end: all else waits until signals_read_all().
 */
int signals_open(sigset_t *old);
/*
 * From now on @fd reads all of them. Returns how long poll() may wait for one, in ms: -1, without
 * end; less if that failed, as then the ends of children are not seen there.
 */
int signals_read_all(int fd);
/*
 * Whether the command has not got it yet: what the terminal sends goes to the whole group, and
 * what a process of the command sends is meant for itself and its group.
 */
bool signals_is_to_forward(const struct signalfd_siginfo *si, pid_t command);
/*
 * Stops this process, as the command has been stopped by @sig, for the shell to see. Returns when
 * it was continued, by a SIGCONT that can then be read; or false, not stopped where no shell looks.
 */
bool signals_stop_too(int sig);
/* Whether this process or a descendant has the terminal of stderr: none of it is in the background,
 * where a shell's prompt or another job is in front. */
bool signals_have_terminal(void);
/* Ends this process by @sig, without a core. Returns only when that is not possible. */
void signals_die(int sig);

#endif

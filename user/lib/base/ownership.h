/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process is a user's own, for what may be done on behalf of a user that is not root. */
#ifndef BASE_OWNERSHIP_H
#define BASE_OWNERSHIP_H

#include <stddef.h>
#include <sys/types.h>

/*
 * 0: the process @pid_fd (a pidfd) is the own of the user @uid with the group @gid, as ptrace(2)
 * decides it: its real, effective and saved IDs are theirs, it has no capabilities but ambient
 * ones, it is dumpable (has not been executed with rights of its file, nor asked for protection),
 * and it is in the caller's user namespace. The IDs are numbers in that namespace. It holds for the
 * process that it was at that time: a later exec may give it other rights, as it may each of its
 * descendants. A caller that is another user needs CAP_SYS_PTRACE.
 *
 * Else @why is a sentence without a full stop. -EPERM: it is not, or that cannot be decided, as for
 * an @uid of 0; -ESRCH: it has ended; -EINVAL: @pid_fd is a thread;
 * -EBADMSG: it is no process, or none that this /proc has; or what reading /proc has given.
 */
int process_check_owner(int pid_fd, uid_t uid, gid_t gid, char *why, size_t size);

/*
 * Whether numbers of processes and times are the same there as for the caller: 0; or -EPERM, with
 * @why: the process @pid_fd is in another PID or time namespace, or that cannot be read.
 */
int process_check_numbers(int pid_fd, char *why, size_t size);

#endif

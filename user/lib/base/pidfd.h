/* SPDX-License-Identifier: BSD-2-Clause */
/* A process as a descriptor, which stays its own when its number is given to another. */
#ifndef BASE_PIDFD_H
#define BASE_PIDFD_H

#include <sys/types.h>

/* The process @pid as a descriptor, to be closed; a negative errno: -ESRCH. */
int pidfd_make(pid_t pid);
/*
 * The number of the process @fd in the PID namespace of /proc. -ESRCH: it has ended; -EBADMSG: @fd
 * is no process, or none of that namespace.
 */
pid_t pidfd_pid(int fd);

#endif

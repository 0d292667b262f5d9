/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/stat says of a process; its name, which may hold anything, is passed over. */
#ifndef BASE_PROCSTAT_H
#define BASE_PROCSTAT_H

#include <stdbool.h>
#include <sys/types.h>

/* The state letter and the parent. A negative errno: it is gone, or cannot be read. */
int procstat_read(pid_t pid, char *state, pid_t *parent);

/* Does /proc show the processes of our own PID namespace? */
bool procstat_is_ours(void);

/* The process that task @pid is a thread of. A negative errno: it is gone. */
int procstat_leader(pid_t pid, pid_t *leader);

#endif

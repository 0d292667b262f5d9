/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads /proc/PID/stat and status; the process's name, which may hold any bytes, is skipped. */
#ifndef BASE_PROCSTAT_H
#define BASE_PROCSTAT_H

#include <stdbool.h>
#include <sys/types.h>

/* The state letter and the parent. A negative errno: the process is gone, or cannot be read. */
int procstat_read(pid_t pid, char *state, pid_t *parent);

/* Whether /proc is that of the caller's own PID namespace. */
bool procstat_is_own_namespace(void);

/* The process that the task @pid belongs to. A negative errno: it is gone. */
int procstat_read_leader(pid_t pid, pid_t *leader);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that has made a connection over a Unix socket. Its PID alone does not say which that
 * is: it may have ended since, while others hold the connection, and another process may have got
 * its PID.
 */
#ifndef BASE_PEER_PROCESS_H
#define BASE_PEER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer_process {
	pid_t pid;
	uid_t uid;     /* effective, when it connected */
	bool is_there; /* the kernel has shown that it still has its PID; before 6.5 it does not */
	uint64_t came_boot_ns; /* CLOCK_BOOTTIME: it had connected by then */
};

/* Reads pid, uid and is_there of the other end of @fd. 0; -ESRCH: it has ended; or another negative
 * errno. */
int peer_process_read(int fd, struct peer_process *p);
/*
 * False: a process with its PID that began at @start_boot_ns and is of user @uid may be another
 * one, and the connection a stranger's. @owner: whose connections count in any case, as root's do.
 */
bool peer_process_may_be(const struct peer_process *p, uint64_t start_boot_ns, uid_t uid,
			 uid_t owner);

#endif

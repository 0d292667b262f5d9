/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that request the end of bpfmon itself: the first two are orderly, the third is not. */
#ifndef ROLES_END_REQUEST_H
#define ROLES_END_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#define REQUESTS_THAT_END 3

struct end_requests {
	unsigned nr;
	int signal; /* the last one */
	pid_t by;   /* its sender; 0: the kernel */
	uint64_t at_ns;
};

/*
 * Whether @si is SIGINT, SIGTERM, SIGHUP or SIGQUIT, and not one that this process was started to
 * ignore: SIGHUP as nohup(1) does, SIGINT and SIGQUIT of the terminal as a shell does for a job in
 * the background.
 */
bool end_request_is_one(const struct signalfd_siginfo *si);
/* Counts it. False: it is the echo of the last one, and is not counted. */
bool end_request_count(struct end_requests *r, const struct signalfd_siginfo *si);
/* Reads what is in @signal_fd until there is one. Its signal, or 0; what is read is dropped. */
int end_request_read(int signal_fd);

#endif

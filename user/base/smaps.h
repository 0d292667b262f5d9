/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/smaps_rollup says of an address space. */
#ifndef BASE_SMAPS_H
#define BASE_SMAPS_H

#include <stdint.h>
#include <sys/types.h>

struct smaps {
	uint64_t pss_bytes; /* each page divided by the number of those that map it */
	uint64_t uss_bytes; /* pages that nobody else maps */
};

/* -ESRCH or -ENOENT: it has gone; -EACCES: it is another's, and CAP_SYS_PTRACE is missing. */
int smaps_read(pid_t pid, struct smaps *out);

#endif

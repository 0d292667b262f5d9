/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads PSS and USS of an address space from /proc/PID/smaps_rollup. */
#ifndef BASE_SMAPS_H
#define BASE_SMAPS_H

#include <stdint.h>
#include <sys/types.h>

struct smaps {
	uint64_t pss_bytes; /* each page divided by the number of address spaces that map it */
	uint64_t uss_bytes; /* pages that no other address space maps */
};

/* -ESRCH or -ENOENT: the process is gone; -EACCES: it is another user's, and CAP_SYS_PTRACE is
 * missing. */
int smaps_read(pid_t pid, struct smaps *out);

#endif

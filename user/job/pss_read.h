/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads PSS and USS of one process from /proc; during a long read the caller can do other work. */
#ifndef JOB_PSS_READ_H
#define JOB_PSS_READ_H

#include <stdint.h>
#include <sys/types.h>

struct pss_reading {
	uint64_t pss_bytes, uss_bytes;
	uint64_t took_ns; /* also if the read failed */
};

/*
 * 0, or a negative errno as of smaps_read(). During a read that is long by @expected_ns, the
 * calling thread calls @meanwhile every few milliseconds.
 */
int pss_read(pid_t pid, uint64_t expected_ns, struct pss_reading *r, void (*meanwhile)(void *),
	     void *context);

#endif

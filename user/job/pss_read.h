/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads PSS and USS of one process from /proc, and lets the caller go on with what cannot wait. */
#ifndef JOB_PSS_READ_H
#define JOB_PSS_READ_H

#include <stdint.h>
#include <sys/types.h>

struct pss_reading {
	uint64_t pss_bytes, uss_bytes;
	uint64_t took_ns; /* also where the read failed */
};

/*
 * 0, or a negative errno as of smaps_read(). While one goes on from which @expected_ns says that it
 * is long, @meanwhile is called now and then, by the calling thread.
 */
int pss_read(pid_t pid, uint64_t expected_ns, struct pss_reading *r, void (*meanwhile)(void *),
	     void *context);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run had requested, and what else only its first and its last line tell. */
#ifndef STUDY_ADVISE_REQUEST_H
#define STUDY_ADVISE_REQUEST_H

#include <stdint.h>

/* What is not known is -1. */
struct run_request {
	int64_t memory_bytes, milli_cores; /* of its scheduler, else the limits of its cgroup */
	int64_t needed_bytes;              /* the memory that it needed */
	int64_t write_bytes;               /* written to storage */
	int64_t argument_bytes; /* the files that its command names, as large as they are now */
};

/*
 * Each sets what that line of the run tells; what cannot be read is left as it is. Files are looked
 * for only if the run was on @host.
 */
void run_request_read_meta(struct run_request *r, const char *line, const char *host);
void run_request_read_summary(struct run_request *r, const char *line);

#endif

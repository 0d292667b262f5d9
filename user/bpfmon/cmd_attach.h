/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `bpfmon attach`. */
#ifndef BPFMON_CMD_ATTACH_H
#define BPFMON_CMD_ATTACH_H

#include "bpfmon/recording_options.h"
#include "measure/tracker.h"

#include <sys/types.h>

struct attach_options {
	struct common_options common;
	struct recording_options recording;
	pid_t pids[MAX_TARGETS];
	size_t nr_pids;
	const char *cgroup;    /* NULL if not given */
	const char *container; /* NULL if not given */
	bool wait_start;
	uint64_t duration_ns; /* 0: until the target has ended */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process runs that was executed before it was followed: read from /proc. */
#ifndef MEASURE_RUNNING_H
#define MEASURE_RUNNING_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <sys/types.h>

/* Fills in @e, except for its image, as the exec hook would have. A negative errno: the process is
 * gone, or may not be read. */
int image_of_running(pid_t pid, bool want_args, struct exec_event *e);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process runs that had been executed before we came: as /proc tells. */
#ifndef TRACK_RUNNING_H
#define TRACK_RUNNING_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <sys/types.h>

/* Makes @e (but for its image) as the kernel would have. A negative errno: it is gone, or ours not
 * to read. */
int image_of_running(pid_t pid, bool want_args, struct exec_event *e);

#endif

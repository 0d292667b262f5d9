/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process of bpfmon itself has cost so far. */
#ifndef JOB_SELFCOST_H
#define JOB_SELFCOST_H

#include "model/summary.h"

#include <sys/types.h>

/* Memory is 0 if it cannot be read (/proc is of another PID namespace). */
void selfcost_read(pid_t pid, struct role_cost *cost);

#endif

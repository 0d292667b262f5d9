/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process of bpfmon itself has cost so far. */
#ifndef MEASURE_SELFCOST_H
#define MEASURE_SELFCOST_H

#include "run/summary.h"

#include <sys/types.h>

/* Memory is 0 if it cannot be read (/proc is of another PID namespace). */
void selfcost_read(pid_t pid, struct role_cost *cost);

#endif

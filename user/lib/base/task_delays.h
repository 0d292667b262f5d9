/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the kernel keeps for each task how long it waited for what. */
#ifndef BASE_TASK_DELAYS_H
#define BASE_TASK_DELAYS_H

#include <stdbool.h>

/* As the sysctl kernel.task_delayacct says: for the tasks that begin from now on. */
bool task_delays_are_kept(void);

#endif

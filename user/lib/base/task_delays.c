// SPDX-License-Identifier: BSD-2-Clause
#include "base/task_delays.h"

#include <stdio.h>

bool task_delays_are_kept(void)
{
	FILE *f = fopen("/proc/sys/kernel/task_delayacct", "re");
	bool is_on = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	return is_on;
}

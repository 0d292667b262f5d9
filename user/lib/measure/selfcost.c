// SPDX-License-Identifier: BSD-2-Clause
#include "measure/selfcost.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>

void selfcost_read(pid_t pid, struct role_cost *cost)
{
	char path[64], line[128];
	__cleanup(fclosep) FILE *status = NULL;
	clockid_t cpu; /* of all threads, those that have ended included */

	*cost = (struct role_cost){ 0 };
	if (!clock_getcpuclockid(pid, &cpu))
		cost->cpu_ns = clock_ns(cpu);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = memory_fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %" SCNu64, &cost->rss_bytes) == 1)
			cost->rss_bytes *= 1024;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "collect/selfcost.h"

#include "base/cleanup.h"

#include <inttypes.h>

void selfcost_read(pid_t pid, struct role_cost *cost)
{
	char path[64], line[128];
	__cleanup(fclosep) FILE *cpu = NULL, *status = NULL;

	*cost = (struct role_cost){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	cpu = fopen(path, "re");
	if (cpu && fscanf(cpu, "%" SCNu64, &cost->cpu_ns) != 1)
		cost->cpu_ns = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %" SCNu64, &cost->rss_bytes) == 1)
			cost->rss_bytes *= 1024;
}

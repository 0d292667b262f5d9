// SPDX-License-Identifier: BSD-2-Clause
#include "store/job_match.h"

#include "base/cgroup.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_match_cgroup(const struct node_job_rows *jobs, const char *path,
		      const struct node_job_row **best)
{
	for (size_t i = 0; i < jobs->nr; i++) {
		const struct node_job_row *job = &jobs->all[i];

		if (job->cgroup && cgroup_path_below(path, job->cgroup) &&
		    (!*best || strlen(job->cgroup) > strlen((*best)->cgroup)))
			*best = job;
	}
}

int job_match_process(const struct node_job_rows *jobs, pid_t pid, const struct node_job_row **best)
{
	char path[64], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	f = memory_fopen(path, "re");
	if (!f)
		return -errno;
	while ((n = memory_getline(&line, &room, f)) > 0) {
		char *cgroup = strchr(line, ':');

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		cgroup = cgroup ? strchr(cgroup + 1, ':') : NULL;
		if (cgroup)
			job_match_cgroup(jobs, cgroup + 1, best);
	}
	free(line);
	fclose(f);
	return 0;
}

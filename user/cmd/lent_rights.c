// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/lent_rights.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/user.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool rights_are_lent(void)
{
	return getuid() && user_rights_are_lent();
}

/* Real, effective and saved: a process that has changed its user may hold what is not the caller's.
 */
static bool process_is_own(pid_t pid)
{
	unsigned long real, effective, saved, own = getuid();
	char path[64], line[256];
	__cleanup(fclosep) FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %lu %lu %lu", &real, &effective, &saved) == 3)
			return real == own && effective == own && saved == own;
	return false;
}

/* Delegated to the caller: only root can move processes of other users into it. */
static bool cgroup_is_own(const struct cgroup_target *t)
{
	struct stat st;

	return !stat(t->cg.path, &st) && st.st_uid == getuid();
}

int lent_rights_check(const struct attach_options *o, const struct cgroup_target *t)
{
	if (!rights_are_lent())
		return 0;
	if (t && !cgroup_is_own(t)) {
		log_error("the cgroup '%s' is another user's: with the capabilities of its file "
			  "bpfmon attaches to its caller's own processes; try sudo",
			  t->cg.path);
		return -EPERM;
	}
	for (size_t i = 0; !t && i < o->nr_pids; i++) {
		if (process_is_own(o->pids[i]))
			continue;
		log_error("process %d is another user's: with the capabilities of its file bpfmon "
			  "attaches to its caller's own processes; try sudo",
			  o->pids[i]);
		return -EPERM;
	}
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "launch/own_cgroup.h"

#include "base/log.h"
#include "base/privilege.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int own_cgroup_make(struct cgroup *cg)
{
	char why[5000] = "";
	int err = cgroup_make("/proc/self", cg, why, sizeof(why));

	if (err)
		log_error("--own-cgroup: %s", why);
	else
		log_info("the command has the cgroup '%s'", cg->path);
	return err;
}

void own_cgroup_remove(const struct cgroup *cg)
{
	int err;

	privilege_use(UINT64_MAX);
	err = cgroup_remove(cg);
	if (err == -EBUSY)
		log_warn("the cgroup '%s' is left: processes are in it still; %s", cg->path,
			 "rmdir removes it when they have ended");
	else if (err)
		log_warn("cannot remove the cgroup '%s': %s", cg->path, strerror(-err));
}

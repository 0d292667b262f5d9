// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/container_cgroup.h"

#include "base/cgroup_mount.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* The one with limits and most of the numbers comes first; NULL: the unified hierarchy. */
static const char *const hierarchies[] = {
	"memory", NULL, "cpuacct", "pids", "freezer", "devices"
};
#define NR_HIERARCHIES (sizeof(hierarchies) / sizeof(*hierarchies))

/* As in libpod-ID, docker-ID.scope, crio-ID.scope, or ID itself. */
static bool name_has_id(const char *part, size_t n, const char *id)
{
	size_t length = strlen(id);

	for (size_t i = 0; length && i + length <= n; i++)
		if (!memcmp(part + i, id, length) && (!i || strchr("-:", part[i - 1])) &&
		    (i + length == n || part[i + length] == '.'))
			return true;
	return false;
}

/* Cuts @path after the component that has @id in its name. False: none has. */
static bool path_cut_after_id(char *path, const char *id)
{
	for (char *part = path; *part;) {
		size_t n;

		part += *part == '/';
		n = strcspn(part, "/");
		if (name_has_id(part, n, id)) {
			part[n] = '\0';
			return true;
		}
		part += n;
	}
	return false;
}

int container_find_cgroup(const char *proc, const struct container *c, char folder[4096])
{
	char self[64], of[64], path[4096];
	size_t mount;
	bool is_v2;
	int number;

	snprintf(self, sizeof(self), "%s/self", proc);
	snprintf(of, sizeof(of), "%s/%d", proc, c->pid);
	for (size_t i = 0; i < NR_HIERARCHIES; i++) {
		const char *controller = hierarchies[i];

		if (cgroup_of_process(of, controller, path, &is_v2, &number) ||
		    is_v2 != !controller || !path_cut_after_id(path, c->id))
			continue;
		if (!cgroup_find_folder(self, controller, path, folder, &mount))
			return 0;
	}
	return -ENOENT;
}

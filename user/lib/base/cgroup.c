// SPDX-License-Identifier: BSD-2-Clause
#include "base/cgroup.h"

#include "base/cgroup_mount.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROLLER "memory"
#define NAMES_TRIED 8
#define ENDING_TRIES                                                                               \
	20 /* of 5 ms each: a process that was killed may take that long to be gone                \
	    */
#define ENDING_US 5000

static FILE *cgroup_open_file(const char *folder, const char *name)
{
	char path[5000];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fopen(path, "re");
}

/* Whether @cg has the controller enabled for its children. */
static bool cgroup_delegates(const struct cgroup *cg)
{
	__cleanup(fclosep) FILE *f = cgroup_open_file(cg->path, "cgroup.subtree_control");
	char line[512];

	return f && fgets(line, sizeof(line), f) && list_has_word(line, CONTROLLER, " \n");
}

int cgroup_find_parent(const char *proc, struct cgroup *parent, char *why, size_t size)
{
	char path[4096], *end;
	size_t mount = 0;
	int id, err = cgroup_of_process(proc, CONTROLLER, path, &parent->is_v2, &id);

	if (!err)
		err = cgroup_find_folder(proc, parent->is_v2 ? NULL : CONTROLLER, path,
					 parent->path, &mount);
	if (err) {
		snprintf(why, size, "the cgroups of the memory controller are not mounted here");
		return err;
	}
	/* a cgroup with processes cannot enable a controller for children: mostly it is one further
	 * up */
	while (parent->is_v2 && !cgroup_delegates(parent)) {
		end = strrchr(parent->path, '/');
		if (!end || (size_t)(end - parent->path) < mount) {
			snprintf(why, size, "no cgroup from '%s' upwards %s", path,
				 "has 'memory' in its cgroup.subtree_control");
			return -ENOENT;
		}
		*end = '\0';
	}
	return 0;
}

int cgroup_make(const char *proc, struct cgroup *cg, char *why, size_t size)
{
	struct cgroup parent;
	int err = cgroup_find_parent(proc, &parent, why, size);

	if (err)
		return err;
	cg->is_v2 = parent.is_v2;
	/* the name may be taken: by a leftover, or by a process of another PID namespace */
	for (int i = 0; i < NAMES_TRIED; i++) {
		char more[16] = "";
		int n;

		if (i)
			snprintf(more, sizeof(more), "-%d", i);
		n = snprintf(cg->path, sizeof(cg->path), "%s/bpfmon-%d%s", parent.path, getpid(),
			     more);
		if (n < 0 || (size_t)n >= sizeof(cg->path))
			err = -ENAMETOOLONG;
		else
			err = mkdir(cg->path, 0755) ? -errno : 0;
		if (err != -EEXIST)
			break;
	}
	if (err)
		snprintf(why, size, "no cgroup can be made in '%s': %s%s", parent.path,
			 strerror(-err),
			 err == -EACCES || err == -EPERM ? "; use sudo, or start bpfmon in a "
							   "cgroup that was handed to its user"
							 : "");
	return err;
}

int cgroup_join(const struct cgroup *cg)
{
	char path[5000];
	__cleanup(closep) int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cg->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
}

int cgroup_remove(const struct cgroup *cg)
{
	int err = 0;

	for (int i = 0; i < ENDING_TRIES; i++) {
		if (!rmdir(cg->path) || errno == ENOENT)
			return 0;
		err = -errno;
		if (err != -EBUSY)
			break;
		usleep(ENDING_US);
	}
	return err;
}

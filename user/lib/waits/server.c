// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that another program or machine serves: FUSE, NFS, SMB. Nothing is asked of the file
 * system itself, as it would hang like the process that is looked at.
 */
#include "waits/syscalls.h"
#include "waits/fdinfo.h"
#include "waits/look.h"
#include "waits/waits_memory.h"

#include "base/cgroup.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static FILE *mounts_open(pid_t pid)
{
	char proc[32];

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	return cgroup_mounts_open(proc);
}

/* The mount of the file that the call is about. */
static bool mount_of_call(const struct wait *wait, const struct task_view *task,
			  struct mount_view *m)
{
	__cleanup(fclosep) FILE *f = mounts_open(wait->pid);
	char path[4096], info[1024];
	uint64_t id;

	if (wait->fd < 0)
		return call_path(wait->pid, task, path, sizeof(path)) && *path == '/' &&
		       mount_find_path(f, path, m);
	return fdinfo_read(wait->pid, wait->fd, info, sizeof(info)) > 0 &&
	       fdinfo_number(info, "mnt_id", &id) && mount_find_id(f, id, m);
}

/* A symbolic link leads elsewhere, or it is no call: there may be but one that is meant. */
static bool mount_of_channel(pid_t pid, enum mount_server server, struct mount_view *m)
{
	__cleanup(fclosep) FILE *f = mounts_open(pid);

	return mount_find_only(f, server, m);
}

void server_look(struct wait *wait, struct other_end *end, const struct task_view *task)
{
	enum mount_server server = channel_server(task->channel);
	struct mount_view m;
	bool is_found = mount_of_call(wait, task, &m);
	enum mount_server of_mount = is_found ? mount_server_of(m.type) : SERVER_NONE;

	/* virtiofs waits where FUSE does */
	if (of_mount != SERVER_OTHER && server && of_mount != server)
		of_mount = SERVER_NONE;
	is_found = of_mount != SERVER_NONE;
	if (!is_found && (!server || !mount_of_channel(wait->pid, server, &m)))
		return;
	wait->kind = WAIT_SERVER;
	path_copy_inert(wait->mount, sizeof(wait->mount), m.point);
	text_copy_inert(wait->mount_type, sizeof(wait->mount_type), m.type);
	text_copy_inert(wait->mount_source, sizeof(wait->mount_source), m.source);
	if (mount_server_of(m.type) != SERVER_FUSE)
		return;
	wait->has_other_end = true;
	*end = (struct other_end){ .is_wanted = true,
				   .key = "fuse_connection",
				   .is_new_key = true };
	end->value = m.device;
	snprintf(end->link, sizeof(end->link), "/dev/fuse");
}

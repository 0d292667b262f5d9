// SPDX-License-Identifier: BSD-2-Clause
#include "waits/syscalls.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "waits/look.h"
#include "waits/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mount_server mount_server_of(const char *type)
{
	static const struct {
		const char *type;
		enum mount_server server;
	} types[] = {
		{ "fuse", SERVER_FUSE },      { "fuseblk", SERVER_FUSE },
		{ "nfs", SERVER_NFS },        { "nfs4", SERVER_NFS },
		{ "cifs", SERVER_SMB },       { "smb3", SERVER_SMB },
		{ "virtiofs", SERVER_OTHER }, { "9p", SERVER_OTHER },
		{ "ceph", SERVER_OTHER },     { "afs", SERVER_OTHER },
		{ "lustre", SERVER_OTHER },   { "beegfs", SERVER_OTHER },
		{ "gpfs", SERVER_OTHER },
	};
	size_t n = strcspn(type, "."); /* the type of "fuse.sshfs" is "fuse" */

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (text_is(type, n, types[i].type))
			return types[i].server;
	return SERVER_NONE;
}

static bool mount_parse(const char *line, struct mount_view *m)
{
	const char *dash = strstr(line, " - ");
	unsigned major, minor;

	if (!dash ||
	    sscanf(line, "%" SCNu64 " %*u %u:%u %*s %4095s", &m->id, &major, &minor, m->point) != 4)
		return false;
	m->source[0] = '\0';
	if (sscanf(dash + 3, "%31s %511s", m->type, m->source) < 1)
		return false;
	m->device = (uint64_t)major << 20 | minor;
	mountinfo_unescape(m->point);
	mountinfo_unescape(m->source);
	return *m->point == '/';
}

static bool mount_next(FILE *f, struct mount_view *m)
{
	__cleanup(freep) char *line = NULL;
	size_t room = 0;

	while (f && memory_getline(&line, &room, f) > 0)
		if (mount_parse(line, m))
			return true;
	return false;
}

static bool path_is_below(const char *path, const char *folder)
{
	size_t n = strcmp(folder, "/") != 0 ? strlen(folder) : 0;

	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

bool mount_find_id(FILE *mountinfo, uint64_t id, struct mount_view *m)
{
	while (mount_next(mountinfo, m))
		if (m->id == id)
			return true;
	return false;
}

bool mount_find_path(FILE *mountinfo, const char *path, struct mount_view *m)
{
	struct mount_view next;
	bool found = false;
	size_t longest = 0;

	while (mount_next(mountinfo, &next)) {
		size_t n = strlen(next.point);

		/* the last mount at a point is on top */
		if (n >= longest && path_is_below(path, next.point)) {
			*m = next;
			longest = n;
			found = true;
		}
	}
	return found;
}

bool mount_find_only(FILE *mountinfo, enum mount_server server, struct mount_view *m)
{
	struct mount_view next;
	bool found = false;

	while (mount_next(mountinfo, &next)) {
		if (mount_server_of(next.type) != server)
			continue;
		if (found && next.device != m->device)
			return false;
		if (!found)
			*m = next;
		found = true;
	}
	return found;
}

/*
 * Files served by another program or machine: FUSE, NFS, SMB. Nothing may access the file system
 * itself, which would block like the examined process.
 */

static FILE *mounts_open(pid_t pid)
{
	char proc[32];

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	return cgroup_mounts_open(proc);
}

/* Finds the mount of the file in the call. */
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

/*
 * Finds the mount by the channel alone, as for a symbolic link or outside of a call: possible if
 * there is only one.
 */
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

	/* virtiofs waits in the channels of FUSE */
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

// SPDX-License-Identifier: BSD-2-Clause
#include "waits/mounts.h"

#include "base/cgroup.h"
#include "base/cleanup.h"

#include <inttypes.h>
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
	size_t n = strcspn(type, "."); /* of "fuse.sshfs" the kind is "fuse" */

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strncmp(type, types[i].type, n) && !types[i].type[n])
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

	while (f && getline(&line, &room, f) > 0)
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

		/* of those at one place the last is on top */
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

// SPDX-License-Identifier: BSD-2-Clause
#include "config/group.h"

#include "base/cleanup.h"

#include <errno.h>
#include <grp.h>
#include <string.h>

#define MAX_BYTES (64 << 20) /* of a group with its members */

/* The id in @line, "NAME:PASSWORD:ID:", if it is of the group @name. */
static bool group_line_read(const char *line, const char *name, gid_t *gid)
{
	size_t length = strlen(name);
	const char *id;
	char *end;
	unsigned long v;

	if (strncmp(line, name, length) != 0 || line[length] != ':')
		return false;
	id = strchr(line + length + 1, ':');
	if (!id)
		return false;
	errno = 0;
	v = strtoul(id + 1, &end, 10);
	if (end == id + 1 || *end != ':' || errno || v >= CONFIG_NO_GROUP)
		return false;
	*gid = (gid_t)v;
	return true;
}

/*
 * Before the C library is asked, because that one crashes when memory ends while it reads its
 * configuration of sources (glibc 2.36). 0, or a negative errno.
 */
static int group_find_in_file(const char *name, gid_t *gid)
{
	__cleanup(fclosep) FILE *f = fopen("/etc/group", "re");
	bool is_begin = true;
	char line[512]; /* the names of members may be cut */

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (is_begin && group_line_read(line, name, gid))
			return 0;
		is_begin = strchr(line, '\n');
	}
	return ferror(f) ? -EIO : -ENOENT;
}

/* By all sources of the machine. 0, or a negative errno. */
static int group_find_anywhere(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	char *room = NULL, *grown;
	int err = ERANGE;

	for (size_t bytes = 4096; err == ERANGE && bytes <= MAX_BYTES; bytes *= 4) {
		grown = realloc(room, bytes);
		if (!grown) {
			err = ENOMEM;
			break;
		}
		room = grown;
		err = getgrnam_r(name, &entry, room, bytes, &found);
	}
	if (found)
		*gid = entry.gr_gid;
	free(room);
	if (found)
		return 0;
	/* what getgrnam(3) lists for names that are not found */
	if (!err || err == ESRCH || err == EBADF || err == EPERM)
		return -ENOENT;
	return -err;
}

int config_group_find(const char *text, struct config_group *group, char *why, size_t size)
{
	int err = -ENOENT;

	*group = (struct config_group){ .gid = CONFIG_NO_GROUP };
	if (!*text)
		return 0;
	if (strlen(text) < sizeof(group->name)) {
		err = group_find_in_file(text, &group->gid);
		if (err == -ENOENT)
			err = group_find_anywhere(text, &group->gid);
	}
	if (!err) {
		snprintf(group->name, sizeof(group->name), "%s", text);
		return 0;
	}
	if (err == -ENOENT) {
		snprintf(why, size, "the name of a group of this machine, or nothing");
		return -EINVAL;
	}
	snprintf(why, size, "cannot look up this group: %s", strerror(-err));
	return err;
}

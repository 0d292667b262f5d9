// SPDX-License-Identifier: BSD-2-Clause
#include "history/place.h"

#include "base/privilege.h"
#include "base/user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER "bpfmon"
#define NO_GROUP 65534

static bool folder_is_empty(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own >= 0 ? fdopendir(own) : NULL;
	const struct dirent *e;
	bool is_empty = d != NULL;

	if (!d && own >= 0)
		close(own);
	while (d && (e = readdir(d)))
		is_empty &= !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return is_empty;
}

/* Nothing in it is given away: it has to be empty, and so no folder that others use either. */
static int folder_give(int fd, struct place *p)
{
	struct user owner;

	if (!folder_is_empty(fd))
		return -ENOTEMPTY;
	if (user_find(OWNER, &owner) || !owner.uid) {
		p->uid = PRIVILEGE_FILES_UID;
		p->gid = PRIVILEGE_FILES_UID;
	} else {
		p->uid = owner.uid;
		p->gid = owner.gid;
	}
	return fchmod(fd, 0700) || fchown(fd, p->uid, p->gid) ? -errno : 0;
}

/* By its descriptor alone: what its name stands for may change. */
static int folder_take(int fd, struct place *p)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	*p = (struct place){ st.st_uid, st.st_gid ? st.st_gid : NO_GROUP };
	if (geteuid()) /* it has the rights that it has */
		return 0;
	return st.st_uid ? 0 : folder_give(fd, p);
}

static int folder_explain(const char *folder, int err, char *why, size_t size)
{
	if (err == -ENOTEMPTY)
		snprintf(why, size,
			 "the folder %s of the store is root's and has files: give it to the user "
			 "who is to keep the history (chown), or name one of its own",
			 folder);
	else if (err == -EPERM)
		snprintf(why, size, "the folder %s of the store is not its owner's alone to change",
			 folder);
	else if (err)
		snprintf(why, size, "cannot use the folder %s of the store: %s", folder,
			 strerror(-err));
	return err;
}

int place_prepare(const char *store, struct place *p, char *why, size_t size)
{
	char copy[PATH_MAX];
	const char *folder;
	int fd, err;

	if (*store != '/' || strlen(store) >= sizeof(copy)) {
		snprintf(why, size, "the path of the store is not absolute, or too long: %s",
			 store);
		return -EINVAL;
	}
	snprintf(copy, sizeof(copy), "%s", store);
	folder = dirname(copy);
	if (mkdir(folder, 0700) && errno != EEXIST)
		return folder_explain(folder, -errno, why, size);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : folder_take(fd, p);
	if (fd >= 0)
		close(fd);
	return folder_explain(folder, err, why, size);
}

int place_become_owner(const struct place *p)
{
	privilege_bound(0);
	if (!geteuid() && (setgroups(0, NULL) || setresgid(p->gid, p->gid, p->gid) ||
			   setresuid(p->uid, p->uid, p->uid)))
		return -errno;
	return privilege_keep(0);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "base/rights.h"

#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"
#define ACL_BYTES 8192

static bool acl_is_absent(int err)
{
	return err == ENODATA || err == EOPNOTSUPP;
}

/* Where the old file has no ACL, one that the folder's default gave to the new file is removed. */
static int rights_copy_acl(const struct path_end *from, int fd)
{
	char path[32], acl[ACL_BYTES];
	ssize_t n;

	path_end_proc_path(from, path);
	n = getxattr(path, ACL, acl, sizeof(acl));
	if (n > 0)
		return fsetxattr(fd, ACL, acl, (size_t)n, 0) ? -errno : 0;
	if (n < 0 && !acl_is_absent(errno))
		return -errno;
	return fremovexattr(fd, ACL) && !acl_is_absent(errno) ? -errno : 0;
}

int rights_copy(const struct path_end *from, int fd)
{
	const struct stat *old = &from->st;
	const mode_t mode = old->st_mode & 0777;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
	    fchown(fd, old->st_uid, old->st_gid))
		return -errno;
	err = rights_copy_acl(from, fd);
	if (err)
		return err;
	/* a file system with one mode for all files may refuse even the mode that it has */
	if (fchmod(fd, mode) && (fstat(fd, &st) || (st.st_mode & 0777) != mode))
		return -EPERM;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "base/path_end.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's limit */

/* A path being resolved. */
struct walk {
	struct path_end *p;
	char rest[PATH_MAX]; /* remaining components */
	unsigned nr_links;
	bool make_folders;
};

static bool file_is_of_others(const struct stat *st)
{
	return st->st_uid && st->st_uid != geteuid();
}

bool path_end_is_open_to_all(const struct path_end *p)
{
	struct stat st;

	return fstat(p->folder, &st) || st.st_mode & S_IWOTH;
}

bool path_end_is_foreign(const struct path_end *p)
{
	return p->fd >= 0 && file_is_of_others(&p->st) && path_end_is_open_to_all(p);
}

void path_end_proc_path(const struct path_end *p, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", p->fd);
}

static void path_end_set_folder(struct path_end *p, int fd)
{
	close(p->folder);
	p->folder = fd;
}

/* Puts @text, the target of a link, before the remaining components. */
static int walk_prepend(struct walk *w, const char *text)
{
	char rest[PATH_MAX];
	int n = snprintf(rest, sizeof(rest), "%s%s%s", text, *w->rest ? "/" : "", w->rest);

	if (n < 0 || (size_t)n >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, rest, (size_t)n + 1);
	if (*text == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return -errno;
		path_end_set_folder(w->p, root);
	}
	return 0;
}

static bool folder_is_proc(int folder)
{
	struct statfs fs;

	return !fstatfs(folder, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Follows a link in /proc by the kernel, which made it: it leads to an open file, and its text is
 * often no path (pipe:[123]). Returns 1 at the end of the path, 0 to go on, or -ENOLINK if the text
 * is a path.
 */
static int walk_follow_magic(struct walk *w)
{
	struct path_end *p = w->p;
	int fd = openat(p->folder, p->name, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &p->st) || S_ISREG(p->st.st_mode)) {
		close(fd);
		return -ENOLINK;
	}
	if (S_ISDIR(p->st.st_mode)) {
		path_end_set_folder(p, fd);
		return 0;
	}
	p->fd = fd;
	return *w->rest ? -ENOTDIR : 1;
}

/* Handles a name that is no folder: a link to one, or the end of the path. */
static int walk_follow_link(struct walk *w)
{
	struct path_end *p = w->p;
	__cleanup(closep) int fd = openat(p->folder, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (++w->nr_links > MAX_LINKS)
		return -ELOOP;
	if (file_is_of_others(&st) && path_end_is_open_to_all(p)) {
		p->why = "the path contains a symbolic link of another user in a world-writable "
			 "directory; name the file itself, or remove the link";
		return -EACCES;
	}
	if (folder_is_proc(p->folder)) {
		int err = walk_follow_magic(w);

		if (err != -ENOLINK)
			return err;
	}
	n = readlinkat(fd, "", text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return walk_prepend(w, text);
}

static int walk_enter_folder(struct walk *w)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct path_end *p = w->p;
	int fd = openat(p->folder, p->name, flags);

	if (fd < 0 && errno == ENOENT && w->make_folders) {
		if (mkdirat(p->folder, p->name, 0700) && errno != EEXIST)
			return -errno;
		fd = openat(p->folder, p->name, flags);
	}
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? walk_follow_link(w) : -errno;
	path_end_set_folder(p, fd);
	return 0;
}

/* Resolves the last component. Returns 1, or 0 if it was a link. */
static int walk_finish(struct walk *w)
{
	struct path_end *p = w->p;

	p->fd = openat(p->folder, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd < 0)
		return errno == ENOENT ? 1 : -errno;
	if (fstat(p->fd, &p->st))
		return -errno;
	if (!S_ISLNK(p->st.st_mode))
		return 1;
	close(p->fd);
	p->fd = -1;
	p->by_link = true;
	return walk_follow_link(w);
}

/* Resolves the next component. Returns 1 if it was the last, else 0. */
static int walk_step(struct walk *w)
{
	const char *part = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(part, "/"), ahead = strlen(part + n);
	bool is_last = !ahead;

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	/* for a path like "folder/" the name is "." */
	snprintf(w->p->name, sizeof(w->p->name), "%.*s", n ? (int)n : 1, n ? part : ".");
	memmove(w->rest, part + n, ahead + 1);
	return is_last ? walk_finish(w) : walk_enter_folder(w);
}

int path_end_find(struct path_end *p, const char *path, bool make_folders)
{
	struct walk w = { .p = p, .make_folders = make_folders };
	int err = 0;

	*p = (struct path_end){ .fd = -1 };
	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	p->folder = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->folder < 0)
		return -errno;
	strcpy(p->name, ".");
	memcpy(w.rest, path, strlen(path) + 1);
	while (!err)
		err = walk_step(&w);
	if (err < 0)
		path_end_done(p);
	return err < 0 ? err : 0;
}

void path_end_done(struct path_end *p)
{
	if (!p->name[0])
		return;
	if (p->fd >= 0)
		close(p->fd);
	close(p->folder);
	p->name[0] = '\0';
}

#define ACL "system.posix_acl_access"
#define ACL_BYTES 8192

static bool acl_is_absent(int err)
{
	return err == ENODATA || err == EOPNOTSUPP;
}

/* If the old file has no ACL, removes one that the new file got from the folder's default. */
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
	/* a file system with one mode for all files may refuse even the current mode */
	if (fchmod(fd, mode) && (fstat(fd, &st) || (st.st_mode & 0777) != mode))
		return -EPERM;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "launch/mark_socket.h"

#include "base/cleanup.h"
#include "base/privilege.h"
#include "base/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SOCKET_NAME "marks"
#define TRIES 16
#define PATIENCE_MS 1000 /* with the keeper, at the end */

/* What the keeper says when it has made the folder, or could not. */
struct report {
	int err;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* A folder of which nobody but its owner, @uid or root can move what we make in it. */
static int open_base(const char *path, bool is_own, uid_t uid)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (st.st_uid == uid || (!is_own && !st.st_uid)) &&
	    (!(st.st_mode & 022) || st.st_mode & S_ISVTX))
		return fd;
	close(fd);
	return -EPERM;
}

/* An own folder in @base, by a name that nobody could foresee. */
static int make_folder(int base, char name[32])
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t random = 0;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		snprintf(name, 32, "bpfmon-%016llx", (unsigned long long)random);
		if (!mkdirat(base, name, 0700))
			return openat(base, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* By its name in the folder that we are in: no other is looked up. */
static int bind_in(int folder, int fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = SOCKET_NAME };
	struct stat st;

	if (fstat(folder, &st) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0700)
		return -EPERM;
	if (fchdir(folder) || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -errno;
	return 0;
}

static int make_in(const char *path, bool is_own, int fd, struct report *r, int *base,
		   char name[32])
{
	int folder, n;

	*base = open_base(path, is_own, geteuid());
	if (*base < 0)
		return *base;
	folder = make_folder(*base, name);
	if (folder < 0)
		return folder == -1 ? -errno : folder;
	n = snprintf(r->path, sizeof(r->path), "%s/%s/" SOCKET_NAME, path, name);
	r->err = n < (int)sizeof(r->path) ? bind_in(folder, fd) : -ENAMETOOLONG;
	if (r->err)
		unlinkat(*base, name, AT_REMOVEDIR);
	return r->err;
}

static void become_keeper(const struct user *as, int *err)
{
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_IGN);
	setsid();
	umask(077);
	if (as)
		*err = user_become(as);
	if (!*err)
		*err = privilege_keep(0);
}

/* Nobody else is to wait for a descriptor that only we have still. */
static void close_others(int base, int keep)
{
	int low = base < keep ? base : keep, high = base < keep ? keep : base;

	if (low > 0)
		syscall(SYS_close_range, 0, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

static void keeper(const struct user *as, int fd, int report_fd, int keep_fd)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct report r = { 0 };
	char name[32], byte;
	int base = -1;
	bool is_wanted; /* else the launcher is gone already */

	become_keeper(as, &r.err);
	if (!r.err && (!runtime || *runtime != '/' || make_in(runtime, true, fd, &r, &base, name)))
		r.err = make_in("/tmp", false, fd, &r, &base, name);
	is_wanted = write(report_fd, &r, sizeof(r)) == sizeof(r);
	if (r.err)
		_exit(1);
	close_others(base, keep_fd);
	seccomp_install(SECCOMP_KEEPER);
	while (is_wanted && read(keep_fd, &byte, 1) < 0 && errno == EINTR)
		;
	unlink(SOCKET_NAME);
	if (!fchdir(base))
		unlinkat(base, name, AT_REMOVEDIR);
	_exit(0);
}

static int make_socket(void)
{
	static const int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return fd;
	close(fd);
	return -ENOPROTOOPT;
}

static int start_keeper(struct mark_socket *m, const struct user *as, struct report *r)
{
	int keep[2], report[2];
	ssize_t n;

	if (pipe2(keep, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		close(keep[0]);
		close(keep[1]);
		return -EMFILE;
	}
	m->keeper = fork();
	if (!m->keeper) {
		close(keep[1]);
		keeper(as, m->fd, report[1], keep[0]);
	}
	close(keep[0]);
	close(report[1]);
	m->keeper_fd = keep[1];
	do
		n = m->keeper < 0 ? -1 : read(report[0], r, sizeof(*r));
	while (n < 0 && m->keeper > 0 && errno == EINTR);
	close(report[0]);
	return n == sizeof(*r) ? r->err : -ECHILD;
}

int mark_socket_make(struct mark_socket *m, const struct user *as, char *why, size_t size)
{
	struct report r = { 0 };
	int err;

	*m = (struct mark_socket){ .fd = make_socket(), .keeper_fd = -1, .keeper = -1 };
	err = m->fd < 0 ? m->fd : start_keeper(m, as, &r);
	if (!err) {
		memcpy(m->path, r.path, sizeof(m->path));
		return 0;
	}
	snprintf(why, size,
		 "no private folder for the socket can be made in XDG_RUNTIME_DIR or /tmp%s%s: %s",
		 as ? " as user " : "", as ? as->name : "", strerror(-err));
	mark_socket_remove(m);
	return err;
}

void mark_socket_remove(struct mark_socket *m)
{
	cleanup_closep(&m->fd);
	cleanup_closep(&m->keeper_fd);
	m->fd = m->keeper_fd = -1;
	/* whoever stops the keeper does not keep us from ending as the command did */
	for (int i = 0; m->keeper > 0 && i < PATIENCE_MS && !waitpid(m->keeper, NULL, WNOHANG); i++)
		poll(NULL, 0, 1);
	m->keeper = -1;
}

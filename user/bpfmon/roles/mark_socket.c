// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/mark_socket.h"

#include "base/cleanup.h"
#include "base/fd_passing.h"
#include "base/privilege.h"
#include "base/seccomp.h"
#include "bpfmon/roles/keeper.h"
#include "bpfmon/roles/mark_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATIENCE_MS 1000 /* with the keeper, at the end */

/* The keeper's report when it has made the folder, or could not. */
struct report {
	int err;
	char path[sizeof(((struct mark_folder *)0)->path)];
};

static void marks_keeper_become(const struct user *as, int *err)
{
	keeper_detach();
	privilege_bound(0);
	if (as)
		*err = user_become(as);
	if (!*err)
		*err = privilege_keep(0);
}

static void marks_keeper_wait(int keep_fd)
{
	char byte;

	while (read(keep_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void marks_keeper_run(const struct user *as, int fd, int report_fd, int keep_fd)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct mark_folder f = { .fd = -1 };
	struct report r = { 0 };

	marks_keeper_become(as, &r.err);
	if (!r.err && (!runtime || *runtime != '/' || mark_folder_make(&f, runtime, true, fd)))
		r.err = mark_folder_make(&f, "/tmp", false, fd);
	memcpy(r.path, f.path, sizeof(r.path));
	if (write(report_fd, &r, sizeof(r)) == sizeof(r) && !r.err) {
		keeper_close_others(0, f.fd, keep_fd); /* which others wait for the end of */
		mark_folder_remove_left(&f);
		seccomp_install(SECCOMP_KEEPER);
		marks_keeper_wait(keep_fd);
	}
	if (r.err)
		_exit(1);
	mark_folder_remove(&f);
	_exit(0);
}

static int marks_socket_open(void)
{
	static const int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	socket_refuse_rights(fd);
	if (!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return fd;
	close(fd);
	return -ENOPROTOOPT;
}

static int marks_keeper_start(struct mark_socket *m, const struct user *as, struct report *r)
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
		marks_keeper_run(as, m->fd, report[1], keep[0]);
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

	*m = (struct mark_socket){ .fd = marks_socket_open(), .keeper_fd = -1, .keeper = -1 };
	err = m->fd < 0 ? m->fd : marks_keeper_start(m, as, &r);
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
	/* a stopped keeper must not delay the end */
	for (int i = 0; m->keeper > 0 && i < PATIENCE_MS && !waitpid(m->keeper, NULL, WNOHANG); i++)
		poll(NULL, 0, 1);
	m->keeper = -1;
}

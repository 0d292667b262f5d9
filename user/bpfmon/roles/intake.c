// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/intake.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/span_call.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "bpfmon/roles/own_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The folder of the socket for marks. Its keeper holds a lock on it while it lives, so that the
 * next keeper of the same user recognizes and removes a folder whose keeper was killed.
 */
#define MARK_FOLDER_BYTES 40

struct mark_folder {
	int fd; /* holds the lock */
	char name[MARK_FOLDER_BYTES];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket */
};

#define PORT_TRIES 16
#define UDP_BYTES (1 << 20) /* for bursts; the kernel may grant less */

static int udp_bind(int family, unsigned port)
{
	static const int on = 1, room = UDP_BYTES;
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	bool is_v6 = family == AF_INET6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (is_v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, is_v6 ? (void *)&v6 : (void *)&v4, is_v6 ? sizeof(v6) : sizeof(v4)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static unsigned udp_port(int fd)
{
	struct sockaddr_in at = { 0 };
	socklen_t size = sizeof(at);

	getsockname(fd, (struct sockaddr *)&at, &size);
	return ntohs(at.sin_port);
}

/* The machine, or this network namespace, may have no IPv6. */
static bool family_is_absent(int err)
{
	return err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL || err == -EPROTONOSUPPORT;
}

/*
 * Opens both sockets on one port. Returns 0, or a negative errno with the address that failed in
 * *@where.
 */
static int udp_open(int fds[UDP_SOCKETS], unsigned port, const char **where)
{
	*where = "127.0.0.1";
	fds[0] = udp_bind(AF_INET, port);
	if (fds[0] < 0)
		return fds[0];
	*where = "[::1]";
	fds[1] = udp_bind(AF_INET6, udp_port(fds[0]));
	if (fds[1] >= 0 || family_is_absent(fds[1]))
		return 0;
	close(fds[0]);
	fds[0] = -1;
	return fds[1];
}

static int intake_open_udp(struct intake_sockets *in, unsigned port)
{
	int *fds = in->intake.udp_fds, err;
	const char *where;
	int tries = port ? 1 : PORT_TRIES;

	do
		err = udp_open(fds, port, &where);
	while (err == -EADDRINUSE && --tries);
	if (err)
		log_error("--metrics-udp: cannot listen on UDP port %u of %s: %s%s", port, where,
			  strerror(-err),
			  err == -EADDRINUSE ? "; another program, such as Telegraf, uses it" : "");
	else
		log_info("receiving metrics on UDP port %u of 127.0.0.1%s", udp_port(fds[0]),
			 fds[1] >= 0 ? " and ::1" : "");
	return err;
}

/* Sent by the keeper when it has made the folder, or failed to. */
struct report {
	int err;
	char path[sizeof(((struct mark_folder *)0)->path)];
};

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

#define SOCKET_NAME "marks"
#define PREFIX "bpfmon-marks-"
#define TRIES 16

/* Opens a folder in which only its owner, @uid or root can rename what is made there. */
static int base_folder_open(const char *path, bool is_own, uid_t uid)
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

/*
 * Opens the folder @name, which was just made, and marks it as in use by a lock. Returns -EAGAIN if
 * another keeper took it for an abandoned one before it was locked.
 */
static int own_folder_open(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct stat st;

	if (err == -ENOENT)
		return -EAGAIN;
	if (!err && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EAGAIN;
	if (!err && !fstat(fd, &st) && !st.st_nlink)
		err = -EAGAIN;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err != -EAGAIN)
		unlinkat(base, name, AT_REMOVEDIR);
	return err;
}

static int own_folder_make(int base, char name[MARK_FOLDER_BYTES])
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t random = 0;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		snprintf(name, MARK_FOLDER_BYTES, PREFIX "%016llx", (unsigned long long)random);
		if (mkdirat(base, name, 0700)) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		fd = own_folder_open(base, name);
		if (fd != -EAGAIN)
			return fd;
	}
	return -EEXIST;
}

/* Binds by name in the current folder, so that no other name is looked up. */
static int own_folder_bind(int folder, int fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = SOCKET_NAME };
	struct stat st;

	if (fstat(folder, &st) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0700)
		return -EPERM;
	if (fchdir(folder) || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -errno;
	return 0;
}

/*
 * Makes the folder in @path and changes into it, and binds the socket @fd there. @is_own: @path
 * must have the same owner. Returns 0, or a negative errno after removing everything.
 */
static int mark_folder_make(struct mark_folder *f, const char *path, bool is_own, int fd)
{
	int base = base_folder_open(path, is_own, geteuid()), n, err;

	if (base < 0)
		return base;
	f->fd = own_folder_make(base, f->name);
	if (f->fd < 0) {
		close(base);
		return f->fd;
	}
	n = snprintf(f->path, sizeof(f->path), "%s/%s/" SOCKET_NAME, path, f->name);
	err = n < (int)sizeof(f->path) ? own_folder_bind(f->fd, fd) : -ENAMETOOLONG;
	if (err) {
		unlinkat(f->fd, SOCKET_NAME, 0);
		unlinkat(base, f->name, AT_REMOVEDIR);
		close(f->fd);
	}
	close(base);
	return err;
}

/* It must be the current folder. */
static void mark_folder_remove(const struct mark_folder *f)
{
	unlink(SOCKET_NAME);
	if (!chdir(".."))
		rmdir(f->name);
}

/* Removes a folder of this user that no keeper has locked: its keeper was killed. */
static void left_folder_remove(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		unlinkat(fd, SOCKET_NAME, 0);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	close(fd);
}

/* Removes abandoned folders beside this one. */
static void mark_folder_remove_left(const struct mark_folder *f)
{
	DIR *d = memory_opendir("..");
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, PREFIX, strlen(PREFIX)) && strcmp(e->d_name, f->name) != 0)
			left_folder_remove(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}

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
		keeper_close_others(
			0, f.fd,
			keep_fd); /* other processes wait for the end of these descriptors */
		mark_folder_remove_left(&f);
		seccomp_install(SECCOMP_KEEPER);
		marks_keeper_wait(keep_fd);
	}
	if (r.err)
		_exit(1);
	mark_folder_remove(&f);
	_exit(0);
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

#define PATIENCE_MS 1000 /* with the keeper, at the end */

/* Closes the socket and waits up to PATIENCE_MS until the folder is removed. */
static void mark_socket_remove(struct mark_socket *m)
{
	cleanup_closep(&m->fd);
	cleanup_closep(&m->keeper_fd);
	m->fd = m->keeper_fd = -1;
	/* a stopped keeper must not delay the end */
	for (int i = 0; m->keeper > 0 && i < PATIENCE_MS && !waitpid(m->keeper, NULL, WNOHANG); i++)
		poll(NULL, 0, 1);
	m->keeper = -1;
}

/*
 * Makes the socket as user @as (NULL: the current user) in XDG_RUNTIME_DIR, if that belongs to the
 * user, else in /tmp. Returns 0, or a negative errno with a sentence without a full stop in @why.
 */
static int mark_socket_make(struct mark_socket *m, const struct user *as, char *why, size_t size)
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
		 "cannot create a private directory for the socket in XDG_RUNTIME_DIR or /tmp%s%s: "
		 "%s",
		 as ? " as user " : "", as ? as->name : "", strerror(-err));
	mark_socket_remove(m);
	return err;
}

static int intake_open_marks(struct intake_sockets *in, const struct user *as)
{
	char why[512] = "out of memory";
	int err = mark_socket_make(&in->marks, as, why, sizeof(why));

	if (!err && setenv(MARK_VARIABLE, in->marks.path, 1))
		err = -ENOMEM;
	in->intake.marks_fd = in->marks.fd;
	if (err)
		log_error("--marks: %s", why);
	else
		log_info("receiving marks on '%s'", in->marks.path);
	return err;
}

static void descriptor_drop(int *fd)
{
	cleanup_closep(fd);
	*fd = -1;
}

void intake_hand_over(struct intake_sockets *in)
{
	descriptor_drop(&in->marks.fd);
	descriptor_drop(&in->span_fd);
	in->intake.marks_fd = -1;
	for (size_t i = 0; i < UDP_SOCKETS; i++)
		descriptor_drop(&in->intake.udp_fds[i]);
}

void intake_close(struct intake_sockets *in)
{
	intake_hand_over(in);
	descriptor_drop(&in->marks.keeper_fd);
}

void intake_remove(struct intake_sockets *in)
{
	intake_close(in);
	mark_socket_remove(&in->marks);
}

static int name_publish(const char *name)
{
	char variable[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];

	snprintf(variable, sizeof(variable), "@%s", name);
	return setenv(SPAN_VARIABLE, variable, 1) ? -ENOMEM : 0;
}

static int name_choose(char *name, size_t size)
{
	uint64_t number;

	unsetenv(SPAN_VARIABLE); /* it may belong to a run around this one */
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(name, size, SPAN_SOCKET_FORMAT, number);
	return 0;
}

/*
 * Chooses the name at which an agent will listen and puts it into the environment; @name is without
 * the "@". Returns 0 or a negative errno.
 */
static int span_socket_choose(char *name, size_t size)
{
	int err = name_choose(name, size);

	return err ? err : name_publish(name);
}

#define CALLERS_QUEUED 1024 /* the kernel may allow fewer; others wait */

static int socket_bind(int fd, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(at.sun_path + 1, name, strlen(name)); /* after a NUL: an abstract socket */
	return bind(fd, (struct sockaddr *)&at, bytes) ? -errno : 0;
}

/*
 * Opens the socket on which processes of the run begin spans, and puts its name into the
 * environment for the command. It is an abstract socket: nothing is left in the file system, and no
 * process needs a right to reach it from bpfmon's network namespace. Returns the descriptor, or a
 * negative errno; then the variable is unset, and there are no spans.
 */
static int span_socket_open(void)
{
	int fd, err;
	char name[64];

	err = name_choose(name, sizeof(name));
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	socket_refuse_rights(fd);
	err = socket_bind(fd, name);
	if (!err && listen(fd, CALLERS_QUEUED))
		err = -errno;
	if (!err)
		err = name_publish(name);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int intake_open(struct intake_sockets *in, const struct intake_options *o, const struct user *as,
		bool by_agent)
{
	int err = 0;

	*in = (struct intake_sockets){
		.intake = { .marks_fd = -1, .udp_fds = { -1, -1 } },
		.marks = { .fd = -1, .keeper_fd = -1, .keeper = -1 },
		.span_fd = -1,
		.is_on = o->marks || o->metrics_udp,
	};
	if (o->metrics_udp && as) /* the command gets no port that its user could not have */
		privilege_set_effective(~(1ULL << CAP_NET_BIND_SERVICE));
	if (o->metrics_udp)
		err = intake_open_udp(in, o->port);
	privilege_set_effective(UINT64_MAX);
	unsetenv(MARK_VARIABLE); /* it may belong to a run around this one */
	if (!err && o->marks)
		err = intake_open_marks(in, as);
	if (err) {
		intake_remove(in);
		return err;
	}
	if (by_agent)
		err = span_socket_choose(in->span_name, sizeof(in->span_name));
	else
		in->span_fd = err = span_socket_open();
	if (err == -ENOMEM) { /* without memory nothing is run, which is reported once */
		log_error("cannot open the socket for spans: %s", strerror(-err));
		intake_remove(in);
		return err;
	}
	if (err < 0)
		log_warn("the command cannot begin spans: %s", strerror(-err));
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent_listen.h"

#include "agent/agent.h"
#include "base/log.h"
#include "base/notify.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define QUEUED 1024 /* the kernel may allow fewer; others wait */

/* For all users to go through, whatever the umask. */
static int folder_make(const char *folder)
{
	mode_t mask = umask(S_IWGRP | S_IWOTH);
	int err = mkdir(folder, 0755) && errno != EEXIST ? -errno : 0;

	umask(mask);
	errno = -err;
	return err;
}

/* Whoever could change the folder could put a socket of his own in the place of this one. */
static int folder_check(const char *path, char *why, size_t size)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *folder;
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	if (folder_make(folder)) {
		snprintf(why, size, "cannot make the folder %s for the socket: %s", folder,
			 strerror(errno));
		return -errno;
	}
	if (lstat(folder, &st)) {
		snprintf(why, size, "cannot look at the folder %s: %s", folder, strerror(errno));
		return -errno;
	}
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	snprintf(why, size,
		 "the folder %s of the socket is not root's alone to change; see 'socket' "
		 "in the configuration",
		 folder);
	return -EPERM;
}

static bool socket_answers(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool answers = fd >= 0 && !connect(fd, (const struct sockaddr *)at, sizeof(*at));

	if (fd >= 0)
		close(fd);
	return answers;
}

/* Under a name of its own first: no client meets a socket that does not listen yet. */
static int socket_make(const struct sockaddr_un *at, int fd)
{
	struct sockaddr_un new = { .sun_family = AF_UNIX };

	if (snprintf(new.sun_path, sizeof(new.sun_path), "%s.%d", at->sun_path, getpid()) >=
	    (int)sizeof(new.sun_path))
		return -ENAMETOOLONG;
	unlink(new.sun_path);
	if (bind(fd, (struct sockaddr *)&new, sizeof(new)) || chmod(new.sun_path, 0666) ||
	    listen(fd, QUEUED) || rename(new.sun_path, at->sun_path))
		return -errno;
	return 0;
}

/* The service manager's own folder and modes hold, and its path, too. */
static void socket_compare(int fd, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at) - 1;

	if (!getsockname(fd, (struct sockaddr *)&at, &size) && strcmp(at.sun_path, path) != 0)
		log_warn("'socket' in the configuration, %s, is not used: the service manager has "
			 "passed %s",
			 path, at.sun_path);
}

int agent_listen(const char *path, char *why, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = notify_take_socket(SOCK_SEQPACKET), err;

	if (fd >= 0) {
		socket_compare(fd, path);
		return fd;
	}
	if (fd == -EPROTOTYPE) {
		snprintf(why, size,
			 "none of the sockets that the service manager passes is one of "
			 "ListenSequentialPacket=");
		return fd;
	}
	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path)) {
		snprintf(why, size, "the path of the socket is too long: %s", path);
		return -ENAMETOOLONG;
	}
	err = folder_check(path, why, size);
	if (err)
		return err;
	if (socket_answers(&at)) {
		snprintf(why, size, "an agent serves at %s already", path);
		return -EADDRINUSE;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = fd < 0 ? -errno : socket_make(&at, fd);
	if (!err)
		return fd;
	snprintf(why, size, "cannot make the socket %s: %s", path, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

static bool needs_restart(const struct agent_config *a, const struct agent_config *b)
{
	return strcmp(a->socket, b->socket) != 0 || strcmp(a->hierarchy, b->hierarchy) != 0 ||
	       a->max_tasks != b->max_tasks || strcmp(a->store, b->store) != 0 ||
	       a->keep_days != b->keep_days || a->keep_bytes != b->keep_bytes ||
	       a->min_ns != b->min_ns;
}

int agent_configure_again(struct agent *a, char *why, size_t size)
{
	struct agent_config now;
	struct rules *rules;
	int err = config_read(a->config.path[0] ? a->config.path : NULL, &now, why, size);

	if (err)
		return err;
	err = rules_open(&now, &rules, why, size);
	if (err) {
		config_done(&now);
		return err;
	}
	if (needs_restart(&a->config, &now))
		log_warn("socket, hierarchy, max_tasks and [history] change with the next start of "
			 "the "
			 "agent");
	node_set_rules(&a->node, rules);
	rules_close(a->rules);
	config_done(&a->config);
	a->rules = rules;
	a->config = now;
	a->node.interval_ns = now.interval_ns; /* of jobs that begin from now on */
	a->node.stalled_after_ns = now.stalled_after_ns;
	a->node.stalled_below_ppm = now.stalled_below_ppm;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "base/ownership.h"

#include "base/cleanup.h"
#include "base/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What /proc/PID/status says of a process. */
struct standing {
	pid_t pid, leader;
	unsigned uid[3], gid[3]; /* real, effective, saved */
	uint64_t permitted, ambient;
	struct stat file; /* of the status: its owner is root if the process is not dumpable */
};

#define HAS_LEADER 1
#define HAS_UID 2
#define HAS_GID 4
#define HAS_PERMITTED 8
#define HAS_AMBIENT 16
#define HAS_ALL 31

/* The bit of what the line says; 0: something else. A part of a long line begins with a digit. */
static int standing_take_line(struct standing *s, const char *line)
{
	if (sscanf(line, "Tgid: %d", &s->leader) == 1)
		return HAS_LEADER;
	if (sscanf(line, "Uid: %u %u %u", &s->uid[0], &s->uid[1], &s->uid[2]) == 3)
		return HAS_UID;
	if (sscanf(line, "Gid: %u %u %u", &s->gid[0], &s->gid[1], &s->gid[2]) == 3)
		return HAS_GID;
	if (sscanf(line, "CapPrm: %" SCNx64, &s->permitted) == 1)
		return HAS_PERMITTED;
	if (sscanf(line, "CapAmb: %" SCNx64, &s->ambient) == 1)
		return HAS_AMBIENT;
	return 0;
}

static int standing_read(struct standing *s, int folder)
{
	__cleanup(fclosep) FILE *f = NULL;
	char line[256];
	int fd = openat(folder, "status", O_RDONLY | O_CLOEXEC), has = 0;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (fstat(fd, &s->file))
		return -errno;
	while (fgets(line, sizeof(line), f))
		has |= standing_take_line(s, line);
	if (ferror(f))
		return -errno;
	return has == HAS_ALL ? 0 : -EBADMSG;
}

static bool ids_are(const unsigned ids[3], unsigned id)
{
	return ids[0] == id && ids[1] == id && ids[2] == id;
}

static int standing_check(const struct standing *s, uid_t uid, gid_t gid, char *why, size_t size)
{
	if (!uid)
		snprintf(why, size,
			 "process %d: whether it is root's own cannot be decided by its IDs",
			 s->pid);
	else if (!ids_are(s->uid, uid))
		snprintf(why, size,
			 "process %d is another user's (its real, effective and saved user are %u, "
			 "%u, %u, and the caller's is %u)",
			 s->pid, s->uid[0], s->uid[1], s->uid[2], uid);
	else if (!ids_are(s->gid, gid))
		snprintf(why, size,
			 "process %d is of another group (its real, effective and saved group are "
			 "%u, %u, %u, and the caller's is %u)",
			 s->pid, s->gid[0], s->gid[1], s->gid[2], gid);
	else if (s->permitted & ~s->ambient)
		snprintf(why, size, "process %d has capabilities that its user has not", s->pid);
	else if (s->file.st_uid != uid || s->file.st_gid != gid)
		snprintf(why, size,
			 "process %d is protected from its user (it is not dumpable: its program "
			 "has rights of its own, or it has asked for that)",
			 s->pid);
	else
		return 0;
	return -EPERM;
}

/* 1: it is in another namespace of that kind than this process; or a negative errno. */
static int namespace_differs(int folder, const char *kind)
{
	struct stat own, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &own) && errno == ENOENT)
		return 0; /* the kernel has none of that kind */
	if (stat(path, &own) || fstatat(folder, path + strlen("/proc/self/"), &its, 0))
		return -errno;
	return own.st_ino != its.st_ino || own.st_dev != its.st_dev;
}

/* In another user namespace capabilities are others, and IDs may be. */
static int namespace_check(pid_t pid, int folder, char *why, size_t size)
{
	int differs = namespace_differs(folder, "user");

	if (!differs)
		return 0;
	if (differs > 0) {
		snprintf(why, size,
			 "process %d is in another user namespace (of a container, or a sandbox)",
			 pid);
		return -EPERM;
	}
	snprintf(why, size, "process %d: its user namespace cannot be read: %s", pid,
		 strerror(-differs));
	return differs == -ENOENT || differs == -ESRCH ? -ESRCH : -EPERM;
}

static int process_decide(pid_t pid, uid_t uid, gid_t gid, char *why, size_t size)
{
	struct standing s = { .pid = pid };
	__cleanup(closep) int folder = -1;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = folder < 0 ? -errno : standing_read(&s, folder);
	if (err) { /* mounted with hidepid, /proc does not have what is another user's */
		snprintf(why, size, "process %d cannot be looked at: %s", pid, strerror(-err));
		return err == -ENOENT || err == -EACCES ? -EPERM : err;
	}
	if (s.leader != pid) {
		snprintf(why, size, "process %d: this is a thread of process %d", pid, s.leader);
		return -EINVAL;
	}
	err = standing_check(&s, uid, gid, why, size);
	return err ? err : namespace_check(pid, folder, why, size);
}

/* Readable: it has ended, even if its parent has not waited for it yet. */
static bool process_is_alive(int pid_fd)
{
	struct pollfd p = { .fd = pid_fd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

int process_check_owner(int pid_fd, uid_t uid, gid_t gid, char *why, size_t size)
{
	pid_t pid = pidfd_pid(pid_fd);
	int err = pid < 0 ? (int)pid : process_decide(pid, uid, gid, why, size);

	/* only of a process that is alive after all was read is it known that it was this one */
	if (err == -ESRCH || (pid > 0 && !process_is_alive(pid_fd))) {
		snprintf(why, size, "the process has just ended");
		return -ESRCH;
	}
	if (pid < 0)
		snprintf(why, size, "the descriptor is no process that this /proc has: %s",
			 strerror(-pid));
	return err;
}

int process_check_numbers(int pid_fd, char *why, size_t size)
{
	static const char *const kinds[] = { "pid", "time" };
	__cleanup(closep) int folder = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pidfd_pid(pid_fd));
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (folder >= 0 && !namespace_differs(folder, kinds[i]))
			continue;
		snprintf(why, size,
			 "its %s namespace is another one than the agent's, or cannot be read",
			 kinds[i]);
		return -EPERM;
	}
	return 0;
}

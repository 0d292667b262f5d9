// SPDX-License-Identifier: BSD-2-Clause
#include "base/user.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void user_from_passwd(struct user *u, const struct passwd *pw)
{
	snprintf(u->name, sizeof(u->name), "%s", pw->pw_name);
	snprintf(u->home, sizeof(u->home), "%s", pw->pw_dir && *pw->pw_dir ? pw->pw_dir : "/");
	snprintf(u->shell, sizeof(u->shell), "%s",
		 pw->pw_shell && *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	u->uid = pw->pw_uid;
	u->gid = pw->pw_gid;
}

/*
 * Finds the user @name, or @uid if @name is NULL, in /etc/passwd. getpwnam() may use other sources,
 * too: it then loads libraries, and crashes when out of memory.
 */
static int user_find_in_file(const char *name, uid_t uid, struct user *u)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/etc/passwd", "re");
	struct passwd entry, *pw;
	char text[2048]; /* longer lines are skipped */
	int err;

	if (!f)
		return -errno;
	while (!(err = fgetpwent_r(f, &entry, text, sizeof(text), &pw)) || err == ERANGE) {
		if (err || (name ? strcmp(pw->pw_name, name) != 0 : pw->pw_uid != uid))
			continue;
		user_from_passwd(u, pw);
		return 0;
	}
	return -ENOENT;
}

int user_find(const char *name, struct user *u)
{
	const struct passwd *pw;

	if (!user_find_in_file(name, 0, u))
		return 0;
	pw = getpwnam(name);
	if (!pw)
		return -ENOENT;
	user_from_passwd(u, pw);
	return 0;
}

/* Reads the ID in the environment variable @name. Returns false if there is none. */
static bool environment_id(const char *name, unsigned *id)
{
	const char *text = getenv(name);
	char *end;
	unsigned long v;

	if (!text || !*text)
		return false;
	v = strtoul(text, &end, 10);
	if (*end || v >= (uid_t)-1)
		return false;
	*id = (unsigned)v;
	return true;
}

/* Returns true if sudo runs this process as root for another user, and sets @uid. */
static bool sudo_caller_uid(uid_t *uid)
{
	return !getuid() && environment_id("SUDO_UID", uid) && *uid;
}

bool user_is_under_sudo(void)
{
	uid_t uid;

	return sudo_caller_uid(&uid);
}

void user_find_caller(struct user *u, bool *was_sudo)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	const struct passwd *pw;
	uid_t sudo_uid;

	u->name[0] = '\0';
	*was_sudo = sudo_caller_uid(&sudo_uid);
	if (*was_sudo) {
		uid = sudo_uid;
		environment_id("SUDO_GID", &gid);
	}
	pw = user_find_in_file(NULL, uid, u) ? getpwuid(uid) : NULL;
	if (pw) {
		user_from_passwd(u, pw);
	} else if (!u->name[0]) {
		snprintf(u->name, sizeof(u->name), "%u", uid);
		snprintf(u->home, sizeof(u->home), "/");
		snprintf(u->shell, sizeof(u->shell), "/bin/sh");
	}
	u->uid = uid;
	u->gid = gid;
}

bool user_rights_are_lent(void)
{
	return getauxval(AT_SECURE) || user_is_under_sudo();
}

bool user_borrows_rights(void)
{
	return getuid() && getauxval(AT_SECURE);
}

int user_become(const struct user *u)
{
	if (initgroups(u->name, u->gid) || setresgid(u->gid, u->gid, u->gid) ||
	    setresuid(u->uid, u->uid, u->uid))
		return -errno;
	return 0;
}

int user_set_environment(const struct user *u)
{
	if (setenv("HOME", u->home, 1) || setenv("USER", u->name, 1) ||
	    setenv("LOGNAME", u->name, 1) || setenv("SHELL", u->shell, 1))
		return -errno;
	return 0;
}

/* Credentials of a process from /proc/PID/status. */
struct process_rights {
	pid_t pid, leader;
	unsigned uid[3], gid[3]; /* real, effective, saved */
	uint64_t permitted, ambient;
	struct stat file; /* of the status file: owned by root if the process is not dumpable */
};

#define HAS_LEADER 1
#define HAS_UID 2
#define HAS_GID 4
#define HAS_PERMITTED 8
#define HAS_AMBIENT 16
#define HAS_ALL 31

/*
 * Parses a line and returns the bit of its member, or 0. The rest of a long line begins with a
 * digit.
 */
static int rights_read_line(struct process_rights *s, const char *line)
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

static int rights_read(struct process_rights *s, int folder)
{
	__cleanup(fclosep) FILE *f = NULL;
	char line[256];
	int fd = openat(folder, "status", O_RDONLY | O_CLOEXEC), has = 0;

	if (fd < 0)
		return -errno;
	f = memory_fdopen(fd, "r");
	if (!f) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (fstat(fd, &s->file))
		return -errno;
	while (fgets(line, sizeof(line), f))
		has |= rights_read_line(s, line);
	if (ferror(f))
		return -errno;
	return has == HAS_ALL ? 0 : -EBADMSG;
}

static bool ids_are(const unsigned ids[3], unsigned id)
{
	return ids[0] == id && ids[1] == id && ids[2] == id;
}

static int rights_check(const struct process_rights *s, uid_t uid, gid_t gid, char *why,
			size_t size)
{
	if (!uid)
		snprintf(why, size, "the IDs of process %d do not show whether it belongs to root",
			 s->pid);
	else if (!ids_are(s->uid, uid))
		snprintf(why, size,
			 "process %d belongs to another user (its real, effective and saved user "
			 "IDs are %u, %u and %u, the caller's is %u)",
			 s->pid, s->uid[0], s->uid[1], s->uid[2], uid);
	else if (!ids_are(s->gid, gid))
		snprintf(why, size,
			 "process %d belongs to another group (its real, effective and saved group "
			 "IDs are %u, %u and %u, the caller's is %u)",
			 s->pid, s->gid[0], s->gid[1], s->gid[2], gid);
	else if (s->permitted & ~s->ambient)
		snprintf(why, size, "process %d has capabilities that its user does not have",
			 s->pid);
	else if (s->file.st_uid != uid || s->file.st_gid != gid)
		snprintf(why, size,
			 "process %d is protected from its user (not dumpable: its program has "
			 "privileges, or requested this)",
			 s->pid);
	else
		return 0;
	return -EPERM;
}

/* Returns 1 if the process is in another namespace of this kind, 0 if not, or a negative errno. */
static int namespace_differs(int folder, const char *kind)
{
	struct stat own, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &own) && errno == ENOENT)
		return 0; /* the kernel has no such namespaces */
	if (stat(path, &own) || fstatat(folder, path + strlen("/proc/self/"), &its, 0))
		return -errno;
	return own.st_ino != its.st_ino || own.st_dev != its.st_dev;
}

/* In another user namespace, capabilities have another meaning, and IDs may have. */
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
	snprintf(why, size, "cannot read the user namespace of process %d: %s", pid,
		 strerror(-differs));
	return differs == -ENOENT || differs == -ESRCH ? -ESRCH : -EPERM;
}

static int process_check_rights(pid_t pid, uid_t uid, gid_t gid, char *why, size_t size)
{
	struct process_rights s = { .pid = pid };
	__cleanup(closep) int folder = -1;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = folder < 0 ? -errno : rights_read(&s, folder);
	if (err) { /* with hidepid, /proc lacks processes of other users */
		snprintf(why, size, "cannot inspect process %d: %s", pid, strerror(-err));
		return err == -ENOENT || err == -EACCES ? -EPERM : err;
	}
	if (s.leader != pid) {
		snprintf(why, size, "%d is a thread of process %d", pid, s.leader);
		return -EINVAL;
	}
	err = rights_check(&s, uid, gid, why, size);
	return err ? err : namespace_check(pid, folder, why, size);
}

/* A pidfd is readable after the end of the process, reaped or not. */
static bool process_is_alive(int pid_fd)
{
	struct pollfd p = { .fd = pid_fd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

int process_check_owner(int pid_fd, uid_t uid, gid_t gid, char *why, size_t size)
{
	pid_t pid = pidfd_pid(pid_fd);
	int err = pid < 0 ? (int)pid : process_check_rights(pid, uid, gid, why, size);

	/* only if it is still alive now, what was read belongs to it */
	if (err == -ESRCH || (pid > 0 && !process_is_alive(pid_fd))) {
		snprintf(why, size, "the process has just ended");
		return -ESRCH;
	}
	if (pid < 0)
		snprintf(why, size, "the descriptor refers to no process in this /proc: %s",
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
		snprintf(why, size, "its %s namespace differs from the agent's, or cannot be read",
			 kinds[i]);
		return -EPERM;
	}
	return 0;
}

/*
 * Range that systemd assigns to running services (DynamicUser=): neither distributions nor user
 * directories assign these IDs permanently.
 */
#define FIRST_UID 61184
#define NR_UIDS (PRIVILEGE_FILES_UID - FIRST_UID)
#define NOBODY 65534

static int capabilities_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int capabilities_set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int privilege_set_effective(uint64_t mask)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & (uint32_t)(mask >> (32 * i));
	return capabilities_set(data);
}

bool privilege_has(uint64_t mask)
{
	struct __user_cap_data_struct data[2];

	if (capabilities_get(data))
		return false;
	for (int i = 0; i < 2; i++)
		if ((uint32_t)(mask >> (32 * i)) & ~data[i].permitted)
			return false;
	return true;
}

void privilege_bound(uint64_t keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap))
			return; /* without CAP_SETPCAP */
}

int privilege_keep(uint64_t keep)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	privilege_bound(keep);
	/* so that an exec gains nothing, whatever the bounding set contains */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return capabilities_set(data);
}

int privilege_drop_all(void)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i].permitted = data[i].effective = 0;
	return capabilities_set(data);
}

void privilege_protect(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* Each process of bpfmon gets its own user, so a compromised one cannot signal the others. */
static void privilege_take_user(void)
{
	const uid_t ids[] = { FIRST_UID + (uid_t)getpid() % NR_UIDS, NOBODY };

	setgroups(0, NULL);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (!setresgid(ids[i], ids[i], ids[i]) && !setresuid(ids[i], ids[i], ids[i]))
			return;
}

int privilege_leave_root(uint64_t keep)
{
	if (!geteuid() && !privilege_set_effective(UINT64_MAX) &&
	    !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)) {
		privilege_take_user();
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
		/* the change of user has cleared the effective set */
		privilege_set_effective(UINT64_MAX);
	}
	return privilege_keep(keep);
}

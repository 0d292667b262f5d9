// SPDX-License-Identifier: BSD-2-Clause
#include "base/user.h"

#include "base/cleanup.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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
 * The user @name, or with a @name of NULL @uid, from /etc/passwd. getpwnam() may ask other sources
 * as well: it then loads libraries, and crashes when memory is short.
 */
static int user_find_in_file(const char *name, uid_t uid, struct user *u)
{
	__cleanup(fclosep) FILE *f = fopen("/etc/passwd", "re");
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

/* The number in the environment variable @name. False: there is none. */
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

/* Whether sudo runs this process as root for another user, @uid. */
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

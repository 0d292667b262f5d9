// SPDX-License-Identifier: BSD-2-Clause
#include "board/service.h"

#include "base/log.h"
#include "base/seccomp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int service_choose_user(const char *program, const char *name, struct user *u)
{
	*u->name = '\0';
	if (!*name && !geteuid()) {
		log_error("%s does not run as root; name the user to run as with --user, such as "
			  "%s, which the service uses",
			  program, program);
		return -EPERM;
	}
	if (*name && geteuid()) {
		log_error("only root can use --user");
		return -EPERM;
	}
	if (!*name)
		return 0;
	if (user_find(name, u)) {
		log_error("there is no user '%s'", name);
		return -ENOENT;
	}
	if (!u->uid) {
		log_error("--user does not accept '%s': it expects an ordinary user", name);
		return -EPERM;
	}
	return 0;
}

int service_drop_rights(const struct user *u)
{
	int err = 0;

	privilege_bound(0);
	if (*u->name)
		err = user_become(u);
	if (err) {
		log_error("cannot become the user %s: %s", u->name, strerror(-err));
		return err;
	}
	err = privilege_keep(0);
	if (err) {
		log_error("cannot drop capabilities: %s", strerror(-err));
		return err;
	}
	return 0;
}

void service_restrict_calls(unsigned role)
{
	int err = seccomp_install(role);

	if (err && err != -ENOSYS)
		log_warn("cannot install the system call filter: %s", strerror(-err));
}

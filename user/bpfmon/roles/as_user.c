// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/as_user.h"

#include "base/fd.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
	int err;
	struct cgroup_target target;
	char why[1024];
};

/* Finds the cgroup @name (NULL: looks at its parent) in a child that has become @user. */
static void question_answer(const struct user *user, const char *name, struct answer *a)
{
	char path[64];

	a->err = user_become(user);
	if (a->err) {
		snprintf(a->why, sizeof(a->why), "cannot become user %s: %s", user->name,
			 strerror(-a->err));
	} else if (name) {
		a->err = cgroup_target_find("/proc/self", name, &a->target, a->why, sizeof(a->why));
	} else {
		__cleanup(closep) int fd = -1;

		snprintf(path, sizeof(path), "/proc/%d/cmdline", getppid());
		fd = open(path, O_RDONLY | O_CLOEXEC);
		a->err = fd < 0 ? -errno : 0;
	}
}

static int question_ask(const struct user *user, const char *name, struct answer *a)
{
	int ends[2], status;
	bool has_all;
	pid_t child;

	memset(a, 0, sizeof(*a));
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child) {
		question_answer(user, name, a);
		_exit(bytes_pass(ends[1], a, sizeof(struct answer), false) ? 0 : 1);
	}
	close(ends[1]);
	has_all = child > 0 && bytes_pass(ends[0], a, sizeof(struct answer), true);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return has_all ? a->err : -EIO;
}

int as_user_find_cgroup(const struct user *user, const char *name, struct cgroup_target *t,
			char *why, size_t size)
{
	struct answer a;
	int err = question_ask(user, name, &a);

	*t = a.target;
	snprintf(why, size, "%s",
		 !err || a.why[0] ? a.why : "the process that looks for the cgroup has failed");
	return err;
}

bool as_user_sees_others(const struct user *user)
{
	struct answer a;

	return !question_ask(user, NULL, &a);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * A starter of containers that is setuid root, as those of clusters are: its child is the first in
 * a new pid namespace, gives up root for the calling user, and executes CMD. Ends with 77 if it is
 * not root. Usage: suidstart CMD [ARGS]
 */
#include "truth.h"
#include <sched.h>

int main(int argc, char **argv)
{
	uid_t uid = getuid();
	double cpu = 0;
	pid_t pid;

	if (argc < 2)
		truth_usage("suidstart CMD [ARGS]");
	errno = 0;
	if (geteuid())
		truth_skip("the setuid bit of its file has no effect there: it is not root");
	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		truth_fail("unshare");
	pid = child_fork();
	if (!pid) {
		if (setresuid(uid, uid, uid))
			truth_fail("change of the user to %u", uid);
		execv(argv[1], argv + 1);
		truth_fail("exec of %s", argv[1]);
	}
	child_reap_ok(pid, &cpu);
	return 0;
}

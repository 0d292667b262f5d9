// SPDX-License-Identifier: BSD-2-Clause
/*
 * A starter of containers that is setuid root, as those of clusters are: its child is the first in
 * a new pid namespace, gives up root for the user who called, and executes CMD. Ends with 77 where
 * it is not root. Usage: suidstart CMD [ARGS]
 */
#include "truth.h"
#include <sched.h>

int main(int argc, char **argv)
{
	uid_t uid = getuid();
	double cpu = 0;
	pid_t pid;

	if (argc < 2)
		usage("suidstart CMD [ARGS]");
	if (geteuid())
		return TRUTH_SKIP;
	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		die("unshare");
	pid = xfork();
	if (!pid) {
		if (setresuid(uid, uid, uid))
			die("change of the user to %u", uid);
		execv(argv[1], argv + 1);
		die("exec of %s", argv[1]);
	}
	reap_ok(pid, &cpu);
	return 0;
}

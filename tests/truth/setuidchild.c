// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child gives up its groups, takes UID as its real, effective and saved user and group, and burns
 * MS milliseconds of CPU. Wants root.
 * Usage: setuidchild UID MS
 */
#include "truth.h"
#include <grp.h>

int main(int argc, char **argv)
{
	double cpu = 0;
	uid_t uid;
	pid_t pid;

	if (argc != 3)
		truth_usage("setuidchild UID MS");
	uid = truth_number(argv[1]);
	pid = child_fork();
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			truth_fail("change of the user to %u", uid);
		spin_ms(truth_number(argv[2]));
		_exit(0);
	}
	child_reap_ok(pid, &cpu);
	truth_write(2, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"uid\":%u", cpu, uid);
	return 0;
}

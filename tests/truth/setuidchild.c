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
		usage("setuidchild UID MS");
	uid = number(argv[1]);
	pid = xfork();
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			die("change of the user to %u", uid);
		spin_ms(number(argv[2]));
		_exit(0);
	}
	reap_ok(pid, &cpu);
	tell(2, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"uid\":%u", cpu, uid);
	return 0;
}

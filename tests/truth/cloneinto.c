// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates a child directly in the given cgroup of version 2 (CLONE_INTO_CGROUP), and stays where it
 * is; the child execs the command. Ends with the child's status.
 * Usage: cloneinto DIR CMD [ARGS]
 */
#include "truth.h"
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	int status;
	pid_t pid;

	if (argc < 3)
		truth_usage("cloneinto DIR CMD [ARGS]");
	args.cgroup = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if ((int)args.cgroup < 0)
		truth_fail("%s", argv[1]);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		truth_fail("clone3");
	if (!pid) {
		execvp(argv[2], argv + 2);
		truth_fail("exec of %s", argv[2]);
	}
	if (waitpid(pid, &status, 0) != pid)
		truth_fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

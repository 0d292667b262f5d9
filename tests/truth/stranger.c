// SPDX-License-Identifier: BSD-2-Clause
/*
 * Until it is killed: a process with MIB MiB of touched small pages starts children, by fork and by
 * vfork in turn. Each has that memory until it executes this program anew, which moves BYTES over a
 * socket and ends; one of fork has moved as many before.
 * Usage: stranger MIB
 */
#include "truth.h"

#include <sys/prctl.h>
#include <sys/socket.h>

#define BYTES 65536

static void bytes_move(void)
{
	static char data[BYTES];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[0], data, BYTES) != BYTES ||
	    read(ends[1], data, BYTES) != BYTES)
		truth_fail("socketpair");
	close(ends[0]);
	close(ends[1]);
}

static void child_run(void)
{
	char *argv[] = { "stranger", "move", NULL };

	execv("/proc/self/exe", argv);
	_exit(TRUTH_ERROR);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		truth_usage("stranger MIB");
	if (!strcmp(argv[1], "move")) {
		bytes_move();
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	touch_mib(truth_number(argv[1]));
	for (unsigned i = 0;; i++) {
		pid_t pid = i % 2 ? vfork() : fork();

		if (!pid && !(i % 2)) /* in vfork it may do little */
			bytes_move();
		if (!pid)
			child_run();
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			truth_fail("a child");
	}
}

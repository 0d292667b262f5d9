// SPDX-License-Identifier: BSD-2-Clause
/*
 * A daemon made by fork, setsid and a second fork burns MS milliseconds of CPU; the first process
 * ends at once (and the daemon writes the witness), or with -w after the daemon is gone.
 * Usage: daemon [-w] MS
 */
#include "truth.h"

static void detach(int keep)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0)
			close(fd);
		else
			dup2(null, fd);
	if (null > 2 && null != keep)
		close(null);
}

int main(int argc, char **argv)
{
	int wait = argc == 3 && !strcmp(argv[1], "-w");
	double *cpu = shared(3 * sizeof(*cpu)), ms;
	int gone[2];
	char c;
	pid_t pid;

	if (argc != 2 + wait)
		usage("daemon [-w] MS");
	ms = number(argv[1 + wait]);
	if (pipe2(gone, O_CLOEXEC))
		die("pipe2");
	pid = xfork();
	if (pid) {
		close(gone[1]);
		reap_ok(pid, cpu + 1);
		cpu[0] = own_cpu();
		if (wait) {
			while (read(gone[0], &c, 1) < 0 && errno == EINTR)
				;
			tell(3, 0, cpu[1] + cpu[2], ",\"daemon_cpu_seconds\":%.9f", cpu[2]);
		}
		return 0;
	}
	if (setsid() < 0)
		die("setsid");
	if (xfork())
		_exit(0);
	detach(gone[1]);
	spin_ms(ms);
	cpu[2] = own_cpu();
	if (!wait)
		tell(3, 0, cpu[0] + cpu[1], ",\"daemon_cpu_seconds\":%.9f", cpu[2]);
	_exit(0);
}

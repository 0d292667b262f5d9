// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds MIB MiB for HOLD_MS, gives them back, resets the kernel's high-water mark of itself, and
 * lives on for HOLD_MS; with "child" a child does that to what it has inherited. 77: there is no
 * such file in /proc.
 * Usage: resetmark MIB HOLD_MS [child]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rusage ru;
	char *held;
	pid_t pid = 0;
	double cpu = 0;
	int fd;

	if (argc < 3 || (argc == 4 && strcmp(argv[3], "child")) || argc > 4)
		truth_usage("resetmark MIB HOLD_MS [child]");
	held = touch_mib(truth_number(argv[1]));
	if (argc == 4)
		pid = child_fork();
	if (pid) {
		child_reap_ok(pid, &cpu);
		truth_write(2, 0, cpu, ",\"child\":%d", pid);
		return 0;
	}
	sleep_seconds(truth_number(argv[2]) / 1e3);
	if (munmap(held, (size_t)(truth_number(argv[1]) * 1048576)))
		truth_fail("munmap");
	fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		truth_skip("/proc/self/clear_refs (CONFIG_PROC_PAGE_MONITOR)");
	if (write(fd, "5", 1) != 1)
		truth_fail("write to clear_refs");
	close(fd);
	sleep_seconds(truth_number(argv[2]) / 1e3);
	if (argc == 4)
		return 0;
	getrusage(RUSAGE_SELF, &ru);
	truth_write(1, 0, 0, ",\"maxrss_kb\":%ld", ru.ru_maxrss);
	return 0;
}

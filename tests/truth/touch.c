// SPDX-License-Identifier: BSD-2-Clause
/*
 * Touches MIB MiB of small pages, holds them for HOLD_MS milliseconds, and then gives them back
 * before it ends (free, the default) or ends with them (exit): a known peak of memory.
 * Usage: touch MIB HOLD_MS [free|exit]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	int keep = argc == 4 && !strcmp(argv[3], "exit");
	struct rusage ru;
	double mib;
	char *p;

	if (argc < 3 || argc > 4 || (argc == 4 && !keep && strcmp(argv[3], "free")))
		truth_usage("touch MIB HOLD_MS [free|exit]");
	mib = truth_number(argv[1]);
	p = touch_mib(mib);
	sleep_seconds(truth_number(argv[2]) / 1e3);
	if (!keep && munmap(p, (size_t)(mib * 1048576)))
		truth_fail("munmap");
	getrusage(RUSAGE_SELF, &ru);
	truth_write(1, 0, 0, ",\"touched_kb\":%.0f,\"maxrss_kb\":%ld", mib * 1024, ru.ru_maxrss);
	return 0;
}

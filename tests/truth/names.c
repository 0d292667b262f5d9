// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child takes the bytes given in hex as its command name (the kernel keeps 15 at most, and none
 * after a 00) and ends; the witness has the name as the kernel gives it back.
 * Usage: names HEX
 */
#include "truth.h"
#include <ctype.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	unsigned char *got = memory_map_shared(16), name[64] = "";
	char hex[33] = "";
	double cpu = 0;
	size_t len;
	pid_t pid;

	len = argc == 2 ? strlen(argv[1]) : 1;
	if (len % 2 || len >= 2 * sizeof(name) || strspn(argv[1], "0123456789abcdefABCDEF") != len)
		truth_usage("names HEX");
	for (size_t i = 0; i < len / 2; i++)
		sscanf(argv[1] + 2 * i, "%2hhx", &name[i]);
	pid = child_fork();
	if (!pid) {
		if (prctl(PR_SET_NAME, name) || prctl(PR_GET_NAME, got))
			truth_fail("prctl");
		_exit(0);
	}
	child_reap_ok(pid, &cpu);
	for (int i = 0; got[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", got[i]);
	truth_write(2, 0, cpu, ",\"comm_hex\":\"%s\"", hex);
	return 0;
}

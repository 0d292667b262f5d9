// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints the container that a name stands for, "ENGINE ID PID", for the caller of sudo; or why
 * there is none, and ends with 1. Usage: findcontainer NAME
 */
#include "bpfmon/roles/container.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct container c;
	struct user caller;
	char why[1024];
	bool was_sudo;

	if (argc != 2)
		return 2;
	user_find_caller(&caller, &was_sudo);
	if (container_find(argv[1], &caller, &c, why, sizeof(why))) {
		puts(why);
		return 1;
	}
	printf("%s %s %d\n", c.engine, c.id, c.pid);
	return 0;
}

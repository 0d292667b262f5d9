// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends at once with the given exit code.
 * Usage: exitwith N
 */
#include "truth.h"

int main(int argc, char **argv)
{
	if (argc != 2)
		truth_usage("exitwith N");
	_exit((int)truth_number(argv[1]));
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process, one thread, burns MS milliseconds of CPU (a little more, never less) and ends.
 * Usage: spin MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	if (argc != 2)
		truth_usage("spin MS");
	spin_ms(truth_number(argv[1]));
	truth_write(1, 0, 0, NULL);
	return 0;
}

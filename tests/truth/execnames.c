// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes any arguments and ends at once with 0; for names and arguments that are odd.
 * Usage: execnames [ARGS]
 */
int main(void)
{
	return 0;
}

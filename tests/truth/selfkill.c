// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends by the signal of the given number, without a core file.
 * Usage: selfkill SIG
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rlimit no_core = {0, 0};
	sigset_t none;
	int sig;

	if (argc != 2)
		truth_usage("selfkill SIG");
	sig = truth_number(argv[1]);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	kill(getpid(), sig);
	errno = 0;
	truth_fail("signal %d did not end the process", sig);
}

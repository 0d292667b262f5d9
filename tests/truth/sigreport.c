// SPDX-License-Identifier: BSD-2-Clause
/*
 * Appends the name of each INT, TERM, HUP, USR1 and USR2 it receives to FILE, a line each, and ends
 * after SECS seconds, or once FILE.end exists, with 7. Prints READY on stdout first; once FILE exists no signal is lost.
 * Usage: sigreport FILE SECS
 */
#include "truth.h"

static const struct {
	int sig;
	const char *line;
} known[] = {
	{SIGINT, "INT\n"},   {SIGTERM, "TERM\n"}, {SIGHUP, "HUP\n"},
	{SIGUSR1, "USR1\n"}, {SIGUSR2, "USR2\n"},
};
#define KNOWN (sizeof(known) / sizeof(*known))

static int out;

static void signal_report(int sig)
{
	int err = errno;

	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].sig == sig && write(out, known[i].line, strlen(known[i].line)) < 0)
			_exit(TRUTH_ERROR);
	errno = err;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = signal_report, .sa_flags = SA_RESTART};
	char end[4096];
	sigset_t set;
	int64_t until;

	if (argc != 3)
		truth_usage("sigreport FILE SECS");
	until = clock_ns(CLOCK_MONOTONIC) + (int64_t)(truth_number(argv[2]) * 1e9);
	snprintf(end, sizeof(end), "%s.end", argv[1]);
	sigfillset(&act.sa_mask);
	sigprocmask(SIG_BLOCK, &act.sa_mask, NULL);
	for (size_t i = 0; i < KNOWN; i++)
		sigaction(known[i].sig, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	out = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (out < 0)
		truth_fail("%s", argv[1]);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	dprintf(1, "READY\n");
	while (clock_ns(CLOCK_MONOTONIC) < until && access(end, F_OK))
		sleep_seconds(0.02);
	return 7;
}

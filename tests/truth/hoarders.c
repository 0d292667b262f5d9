// SPDX-License-Identifier: BSD-2-Clause
/*
 * K children touch MIB MiB each, hold them for HOLD_MS and give them back before they end: all at
 * once (together: none gives back before all have touched), or one after the other (turn).
 * Usage: hoarders together|turn K MIB HOLD_MS
 */
#include "truth.h"

struct gate {
	int touched[2], held[2]; /* pipes: a byte for each that has; end of file lets go */
};

static void memory_hold(const struct gate *g, double mib, double hold_ms)
{
	char *p, byte = 0;

	if (g)
		close(g->held[1]);
	p = touch_mib(mib);
	if (g) {
		if (write(g->touched[1], &byte, 1) != 1)
			truth_fail("write");
		close(g->touched[1]);
		if (read(g->held[0], &byte, 1) < 0)
			truth_fail("read");
	} else {
		sleep_seconds(hold_ms / 1e3);
	}
	if (munmap(p, (size_t)(mib * 1048576)))
		truth_fail("munmap");
	_exit(0);
}

/* Waits for a child, which has to have given its memory back: one may have been OOM-killed. */
static void hoarder_wait(void)
{
	int status;

	if (wait(&status) < 0)
		truth_fail("wait");
	errno = 0;
	if (status)
		truth_fail("a child ended with wait status 0x%x", status);
}

static void hoarders_together(long k, double mib, double hold_ms)
{
	struct gate g;
	char byte;
	long touched = 0;

	if (pipe(g.touched) || pipe(g.held))
		truth_fail("pipe");
	for (long i = 0; i < k; i++)
		if (!child_fork())
			memory_hold(&g, mib, 0);
	close(g.touched[1]); /* so that reading ends when no child can write any more */
	while (touched < k && read(g.touched[0], &byte, 1) == 1)
		touched++;
	if (touched == k)
		sleep_seconds(hold_ms / 1e3);
	close(g.held[1]);
	for (long i = 0; i < k; i++)
		hoarder_wait();
}

static void hoarders_in_turn(long k, double mib, double hold_ms)
{
	for (long i = 0; i < k; i++) {
		if (!child_fork())
			memory_hold(NULL, mib, hold_ms);
		hoarder_wait();
	}
}

int main(int argc, char **argv)
{
	struct rusage ru;
	double mib;
	long k;

	if (argc != 5 || (strcmp(argv[1], "together") && strcmp(argv[1], "turn")))
		truth_usage("hoarders together|turn K MIB HOLD_MS");
	k = (long)truth_number(argv[2]);
	mib = truth_number(argv[3]);
	if (!strcmp(argv[1], "together"))
		hoarders_together(k, mib, truth_number(argv[4]));
	else
		hoarders_in_turn(k, mib, truth_number(argv[4]));
	getrusage(RUSAGE_CHILDREN, &ru);
	truth_write(1 + k, 0, ru_seconds(&ru), ",\"maxrss_kb\":%ld", ru.ru_maxrss);
	return 0;
}

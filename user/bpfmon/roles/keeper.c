// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/keeper.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void keeper_detach(void)
{
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_IGN);
	setsid();
	umask(077);
}

static void descriptors_close(int first, int last)
{
	if (first <= last)
		syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0);
}

void keeper_close_others(int from, int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	if (low < from)
		low = from - 1;
	if (high < from)
		high = from - 1;
	descriptors_close(from, low - 1);
	descriptors_close(low + 1, high - 1);
	syscall(SYS_close_range, (unsigned)high + 1, ~0U, 0);
}

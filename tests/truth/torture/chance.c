// SPDX-License-Identifier: BSD-2-Clause
/* Random numbers: each actor has a sequence of its own, so that nobody's depends on another's. */
#include "torture.h"

/* splitmix64 */
uint64_t chance(struct actor *a)
{
	uint64_t z = (a->chance += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* @least where there is no room between the two. */
long between(struct actor *a, long least, long most)
{
	uint64_t any = chance(a);

	return most <= least ? least : least + (long)(any % (uint64_t)(most - least + 1));
}

bool one_in(struct actor *a, long n)
{
	return !between(a, 0, n - 1);
}

void pause_ms(struct actor *a, long least, long most)
{
	sleep_seconds((double)between(a, least * 100, most * 100) / 1e5);
}

bool is_over(const struct actor *a)
{
	return clock_ns(CLOCK_MONOTONIC) >= a->end_ns;
}

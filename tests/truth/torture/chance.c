// SPDX-License-Identifier: BSD-2-Clause
/* Random numbers: each actor has a sequence of its own, which does not depend on the others. */
#include "torture.h"

/* splitmix64 */
uint64_t chance_next(struct actor *a)
{
	uint64_t z = (a->chance += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* From @least to @most; @least if @most is below. */
long chance_between(struct actor *a, long least, long most)
{
	uint64_t any = chance_next(a);

	return most <= least ? least : least + (long)(any % (uint64_t)(most - least + 1));
}

bool chance_one_in(struct actor *a, long n)
{
	return !chance_between(a, 0, n - 1);
}

void chance_pause_ms(struct actor *a, long least, long most)
{
	sleep_seconds((double)chance_between(a, least * 100, most * 100) / 1e5);
}

bool actor_is_over(const struct actor *a)
{
	return clock_ns(CLOCK_MONOTONIC) >= a->end_ns;
}

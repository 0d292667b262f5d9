// SPDX-License-Identifier: BSD-2-Clause
/* Which action is next, and how a process ends. */
#include "torture.h"

/* Of a process that grew: its marks fall to what it holds now. Only where the run permits it. */
void reset_marks(const struct actor *a)
{
	int fd =
		getenv("TORTURE_RESETS") ? open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	note(a, "reset");
	if (write(fd, "5", 1) != 1)
		die("clear_refs");
	close(fd);
}

static void grow_some(struct actor *a)
{
	long most = a->favourite < 0 ? 300 : 30;

	grow(a, between(a, 1, a->mib < most ? a->mib : most));
}

static void act_family(struct actor *a)
{
	/* what is rarely right at the peak of a run stands there more than once */
	static void (*const families[NR_FAMILIES])(struct actor *) = {
		together,     together,   together,    linger,      linger,
		linger,       burst,      sequence,    daemons,     sharers,
		killed_child, idle_exits, vfork_small, spawn_small, zombies,
	};
	bool liked = a->favourite >= 0 && !one_in(a, 5);

	families[liked ? a->favourite : between(a, 0, NR_FAMILIES - 1)](a);
}

static void act(struct actor *a)
{
	long how = a->favourite < 0 || a->depth > 2 ? between(a, 0, 19) : between(a, 4, 30);

	if (how < 5)
		grow_some(a);
	else if (how < 7)
		shrink(a);
	else if (how == 7)
		give_back_and_touch(a);
	else if (how < 10)
		pause_ms(a, 1, 40);
	else if (how == 10)
		reset_marks(a);
	else if (how == 11)
		pool(a);
	else if (how == 12 && a->depth < 4)
		churn(a);
	else if (a->depth < 5)
		act_family(a);
}

/* For a thread among others: nothing that would end them, or be nested without bound. */
void play_some(struct actor *a, long actions)
{
	for (; actions > 0 && !is_over(a); actions--) {
		if (a->depth < 3 && one_in(a, 4))
			act(a);
		else if (one_in(a, 2))
			grow(a, between(a, 1, 20));
		else
			shrink(a);
	}
}

void play(struct actor *a)
{
	for (long n = between(a, a->depth < 2 ? 4 : 1, a->depth < 3 ? 12 : 3); n > 0 && !is_over(a);
	     n--)
		act(a);
	if (!is_over(a) && a->depth < 4 && one_in(a, 3))
		leader_exits(a);
	if (!is_over(a) && a->depth < 4 && one_in(a, 3))
		thread_becomes(a);
	if (!is_over(a) && one_in(a, 2)) {
		a->depth++;
		become(a, "play", 0);
	}
	end_process(a);
}

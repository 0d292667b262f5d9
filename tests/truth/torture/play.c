// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the next action, and how a process ends. */
#include "torture.h"

/* Resets the marks of a process that grew to what it holds now, if the run permits it. */
void marks_reset(const struct actor *a)
{
	int fd =
		getenv("TORTURE_RESETS") ? open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	log_note(a, "reset");
	if (write(fd, "5", 1) != 1)
		truth_fail("clear_refs");
	close(fd);
}

static void actor_grow_some(struct actor *a)
{
	long most = a->favourite < 0 ? 300 : 30;

	memory_grow(a, chance_between(a, 1, a->mib < most ? a->mib : most));
}

static void actor_act_family(struct actor *a)
{
	/* actions that are rarely at the peak of a run are in the table more than once */
	static void (*const families[NR_FAMILIES])(struct actor *) = {
		crowd_together,     crowd_together,   crowd_together, memory_linger, memory_linger,
		memory_linger,      crowd_burst,      crowd_sequence, crowd_daemons, crowd_sharers,
		crowd_killed_child, crowd_idle_exits, vfork_small,    spawn_small,   crowd_zombies,
	};
	bool liked = a->favourite >= 0 && !chance_one_in(a, 5);

	families[liked ? a->favourite : chance_between(a, 0, NR_FAMILIES - 1)](a);
}

static void actor_act(struct actor *a)
{
	long how = a->favourite < 0 || a->depth > 2 ? chance_between(a, 0, 19)
						    : chance_between(a, 4, 30);

	if (how < 5)
		actor_grow_some(a);
	else if (how < 7)
		memory_shrink(a);
	else if (how == 7)
		memory_retouch(a);
	else if (how < 10)
		chance_pause_ms(a, 1, 40);
	else if (how == 10)
		marks_reset(a);
	else if (how == 11)
		threads_pool(a);
	else if (how == 12 && a->depth < 4)
		threads_churn(a);
	else if (a->depth < 5)
		actor_act_family(a);
}

/* For a thread among others: no action that would end them, or nest without bound. */
void actor_play_some(struct actor *a, long actions)
{
	for (; actions > 0 && !actor_is_over(a); actions--) {
		if (a->depth < 3 && chance_one_in(a, 4))
			actor_act(a);
		else if (chance_one_in(a, 2))
			memory_grow(a, chance_between(a, 1, 20));
		else
			memory_shrink(a);
	}
}

void actor_play(struct actor *a)
{
	for (long n = chance_between(a, a->depth < 2 ? 4 : 1, a->depth < 3 ? 12 : 3);
	     n > 0 && !actor_is_over(a); n--)
		actor_act(a);
	if (!actor_is_over(a) && a->depth < 4 && chance_one_in(a, 3))
		thread_leader_exit(a);
	if (!actor_is_over(a) && a->depth < 4 && chance_one_in(a, 3))
		thread_exec(a);
	if (!actor_is_over(a) && chance_one_in(a, 2)) {
		a->depth++;
		process_exec(a, "play", 0);
	}
	end_process(a);
}

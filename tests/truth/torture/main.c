// SPDX-License-Identifier: BSD-2-Clause
/*
 * Usage: torture SEED [SECONDS]
 * A random tree of processes, the same for the same seed, apart from what depends on timing.
 *   TRUTH_LOG        an existing file, to which all of them append what they do
 *   TORTURE_FILE     a file of 64 MiB to be mapped (optional)
 *   TORTURE_RESETS   if set, some write 5 to clear_refs
 * When it executes itself the arguments are: play|small, and nine numbers (family.c).
 */
#include "torture.h"
#include <sys/prctl.h>

#define MOST_TREES 3

/* The CLONE_VM child of a small image. */
static int nap(void *arg)
{
	struct actor *a = arg;

	log_note(a, "born %d", getpid());
	sleep_seconds(0.06);
	end_process(a);
}

static void small(struct actor *a, long ms)
{
	struct actor child;

	if (ms < 0)
		reap_child(a, begin_sharer(a, &child, nap));
	else
		sleep_seconds((double)ms / 1e3);
	end_process(a);
}

/* Logs the pages of the program and all others that no logged change accounts for. */
static void note_base(const struct actor *a)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		truth_fail("/proc/self/statm");
	close(fd);
	text[strcspn(text, "\n")] = 0;
	log_note(a, "base %s", text);
}

static void image(char **argv)
{
	struct actor a = {
		.process = strtoull(argv[2], NULL, 10),
		.chance = (uint64_t)strtoll(argv[4], NULL, 10),
		.end_ns = strtoll(argv[5], NULL, 10),
		.mib = atol(argv[6]),
		.processes = atol(argv[7]),
		.favourite = atol(argv[8]),
		.depth = (unsigned)atol(argv[9]),
		.may_end = true,
	};

	space_begin(a.process, (unsigned)atol(argv[3]));
	log_note(&a, "image %d", getpid());
	note_base(&a);
	if (!strcmp(argv[1], "small"))
		small(&a, atol(argv[10]));
	actor_play(&a);
}

static pid_t begin_tree(struct actor *a)
{
	struct actor child;
	pid_t pid = begin_child(a, &child);

	if (pid)
		return pid;
	child.mib = a->mib;
	child.processes = a->processes;
	actor_play(&child);
}

/*
 * A process without a parent is reaped here, at once, so that the time of its end is known. When a
 * tree has ended another one begins, unless there is a favourite.
 */
static void reap_all(struct actor *a, pid_t *trees)
{
	struct rusage used;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, 0, &used)) > 0) {
		note_reaped(a, pid, &used);
		errno = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status))
			truth_fail("a process ended with %d", WEXITSTATUS(status));
		for (int i = 0; i < MOST_TREES && a->favourite < 0 && !actor_is_over(a); i++)
			if (trees[i] == pid)
				trees[i] = begin_tree(a);
	}
	if (errno != ECHILD)
		truth_fail("wait");
}

/*
 * Few or many processes, little or much memory, one tree or more. With a favourite there is little
 * else, so that it makes the peak.
 */
static long choose(struct actor *a)
{
	static const long processes[] = { 3, 12, 40, 300 };
	long trees;

	a->favourite = chance_one_in(a, 3) ? -1 : chance_between(a, 0, NR_FAMILIES - 1);
	trees = a->favourite < 0 ? chance_between(a, 1, MOST_TREES) : 1;
	a->mib = chance_between(a, 2, 14) * 100;
	a->processes = processes[chance_between(a, a->favourite < 0 ? 0 : 1, 3)];
	memory_grow(a, chance_between(a, 1, a->favourite < 0 ? a->mib / 8 : 10));
	a->mib /= trees;
	a->processes = (a->processes + trees - 1) / trees;
	return trees;
}

static void first(uint64_t seed, double seconds)
{
	struct actor a = { .chance = seed };
	pid_t trees[MOST_TREES] = { 0 };
	int64_t start_ns;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		truth_fail("PR_SET_CHILD_SUBREAPER");
	a.process = log_new_name();
	space_begin(a.process, 1);
	start_ns = log_note(&a, "image %d", getpid());
	note_base(&a);
	seconds = seconds ? seconds : (double)chance_between(&a, 10, 20) / 10;
	a.end_ns = start_ns + (int64_t)(seconds * 1e9);
	for (long i = choose(&a); i > 0; i--)
		trees[i - 1] = begin_tree(&a);
	reap_all(&a, trees);
	end_process(&a);
}

int main(int argc, char **argv)
{
	log_open();
	find_own_path();
	if (argc == 11)
		image(argv);
	if (argc < 2 || argc > 3)
		truth_usage("torture SEED [SECONDS]");
	first((uint64_t)truth_number(argv[1]), argc == 3 ? truth_number(argv[2]) : 0);
}

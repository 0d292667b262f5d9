// SPDX-License-Identifier: BSD-2-Clause
/*
 * Usage: torture SEED [SECONDS]
 * A random tree of processes, the same for the same seed but for what timing decides.
 *   TRUTH_LOG        file that is there, to which all of them append what they do
 *   TORTURE_FILE     file of 64 MiB to be mapped (optional)
 *   TORTURE_RESETS   if set, some write 5 to clear_refs
 * What it executes of itself has: play|small, and nine numbers (family.c).
 */
#include "torture.h"
#include <sys/prctl.h>

#define MOST_TREES 3

/* The CLONE_VM child of a small image. */
static int nap(void *arg)
{
	struct actor *a = arg;

	note(a, "born %d", getpid());
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

/* Pages of the program and the rest that no change accounts for. */
static void note_base(const struct actor *a)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("/proc/self/statm");
	close(fd);
	text[strcspn(text, "\n")] = 0;
	note(a, "base %s", text);
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
	note(&a, "image %d", getpid());
	note_base(&a);
	if (!strcmp(argv[1], "small"))
		small(&a, atol(argv[10]));
	play(&a);
}

static pid_t begin_tree(struct actor *a)
{
	struct actor child;
	pid_t pid = begin_child(a, &child);

	if (pid)
		return pid;
	child.mib = a->mib;
	child.processes = a->processes;
	play(&child);
}

/*
 * A process without a parent is reaped here, at once: so when it is gone is always known. A tree
 * that has ended is followed by another, where there is no favourite.
 */
static void reap_all(struct actor *a, pid_t *trees)
{
	int status;
	pid_t pid;

	while ((pid = wait(&status)) > 0) {
		note(a, "reaped %d", pid);
		errno = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status))
			die("a process ended with %d", WEXITSTATUS(status));
		for (int i = 0; i < MOST_TREES && a->favourite < 0 && !is_over(a); i++)
			if (trees[i] == pid)
				trees[i] = begin_tree(a);
	}
	if (errno != ECHILD)
		die("wait");
}

/*
 * Few or many processes, little or much memory, one tree or more. Where there is a favourite it is
 * to be what makes the peak, so there is little else.
 */
static long choose(struct actor *a)
{
	static const long processes[] = { 3, 12, 40, 300 };
	long trees;

	a->favourite = one_in(a, 3) ? -1 : between(a, 0, NR_FAMILIES - 1);
	trees = a->favourite < 0 ? between(a, 1, MOST_TREES) : 1;
	a->mib = between(a, 2, 14) * 100;
	a->processes = processes[between(a, a->favourite < 0 ? 0 : 1, 3)];
	grow(a, between(a, 1, a->favourite < 0 ? a->mib / 8 : 10));
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
		die("PR_SET_CHILD_SUBREAPER");
	a.process = new_name();
	space_begin(a.process, 1);
	start_ns = note(&a, "image %d", getpid());
	note_base(&a);
	seconds = seconds ? seconds : (double)between(&a, 10, 20) / 10;
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
		usage("torture SEED [SECONDS]");
	first((uint64_t)number(argv[1]), argc == 3 ? number(argv[2]) : 0);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Births, execs and ends, each noted before and after. */
#include "torture.h"
#include <sched.h>
#include <spawn.h>

/* What an image needs to go on as the same process. */
struct arguments {
	char text[9][24];
	char *list[12];
};

static char own_path[4096];

/* While there is a leader: without one the link in procfs leads nowhere. */
void find_own_path(void)
{
	if (readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0)
		die("/proc/self/exe");
}

static void derive(struct actor *a, struct actor *child)
{
	*child = (struct actor){
		.process = new_name(),
		.chance = chance(a),
		.end_ns = a->end_ns,
		.favourite = a->favourite,
		.depth = a->depth + 1,
		.may_end = true,
	};
}

/* Gives 0 in the child. The lock is held, so that the child's copy of what is settled is whole. */
pid_t begin_child(struct actor *a, struct actor *child)
{
	pid_t pid;

	derive(a, child);
	note(a, "fork %llx", (unsigned long long)child->process);
	space_lock();
	pid = xfork();
	if (!pid) {
		regions_inherited();
		space_inherited(child->process);
		note(child, "born %d", getpid());
		return 0;
	}
	space_unlock();
	note(a, "forked %llx %d", (unsigned long long)child->process, pid);
	return pid;
}

void reap_child(const struct actor *a, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	note(a, "reaped %d", pid);
	errno = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		die("a child ended with %d", WEXITSTATUS(status));
}

void end_process(const struct actor *a)
{
	note(a, "exit");
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

static void arguments(struct arguments *out, const struct actor *a, unsigned image,
		      const char *program, long arg)
{
	const long long numbers[] = { (long long)a->process,
				      image,
				      (long long)a->chance,
				      a->end_ns,
				      a->mib,
				      a->processes,
				      a->favourite,
				      a->depth,
				      arg };

	for (int i = 0; i < 9; i++) {
		snprintf(out->text[i], sizeof(out->text[i]), "%lld", numbers[i]);
		out->list[2 + i] = out->text[i];
	}
	out->list[0] = "torture";
	out->list[1] = (char *)program;
	out->list[11] = NULL;
}

/* Executes itself as @program: "play", or "small", which pauses for @arg ms (negative: sharing). */
void become(struct actor *a, const char *program, long arg)
{
	struct arguments args;
	uint64_t owner;
	unsigned image;

	space_names(&owner, &image);
	arguments(&args, a, owner == a->process ? image + 1 : 1, program, arg);
	note(a, "exec");
	execve(own_path, args.list, environ);
	die("exec of itself");
}

/* A process in our address space; its stack counts as one of ours. -1: there is no stack. */
pid_t begin_sharer(struct actor *a, struct actor *child, int (*run)(void *))
{
	char *stack = stack_take(a);
	pid_t pid;

	if (!stack)
		return -1;
	derive(a, child);
	child->is_sharer = true;
	note(a, "share %llx", (unsigned long long)child->process);
	pid = clone(run, stack + STACK_BYTES, CLONE_VM | SIGCHLD, child);
	if (pid < 0)
		die("clone");
	note(a, "forked %llx %d", (unsigned long long)child->process, pid);
	return pid;
}

void vfork_small(struct actor *a)
{
	struct arguments args;
	struct actor child;
	pid_t pid;

	derive(a, &child);
	arguments(&args, &child, 1, "small", between(a, 0, 8));
	note(a, "share %llx", (unsigned long long)child.process);
	pid = vfork();
	if (pid < 0)
		die("vfork");
	if (!pid) {
		note(&child, "born %d", getpid());
		note(&child, "exec");
		execve(own_path, args.list, environ);
		_exit(TRUTH_ERROR);
	}
	note(a, "forked %llx %d", (unsigned long long)child.process, pid);
	reap_child(a, pid);
}

void spawn_small(struct actor *a)
{
	struct arguments args;
	struct actor child;
	pid_t pid;

	derive(a, &child);
	arguments(&args, &child, 1, "small", between(a, 0, 8));
	note(a, "share %llx", (unsigned long long)child.process);
	errno = posix_spawn(&pid, own_path, NULL, NULL, args.list, environ);
	if (errno)
		die("posix_spawn");
	note(a, "forked %llx %d", (unsigned long long)child.process, pid);
	reap_child(a, pid);
}

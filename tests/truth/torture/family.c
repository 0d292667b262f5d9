// SPDX-License-Identifier: BSD-2-Clause
/* Births, execs and ends, each noted before and after. */
#include "torture.h"
#include <sched.h>
#include <spawn.h>

/* The arguments of an image that continues the same process. */
struct arguments {
	char text[9][24];
	char *list[12];
};

static char own_path[4096];

/* While there is a leader: without one the link in procfs leads nowhere. */
void find_own_path(void)
{
	if (readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0)
		truth_fail("/proc/self/exe");
}

static void actor_derive(struct actor *a, struct actor *child)
{
	*child = (struct actor){
		.process = log_new_name(),
		.chance = chance_next(a),
		.end_ns = a->end_ns,
		.favourite = a->favourite,
		.depth = a->depth + 1,
		.may_end = true,
	};
}

/* Returns 0 in the child. The lock is held, so that the child's copy of the space is consistent. */
pid_t begin_child(struct actor *a, struct actor *child)
{
	pid_t pid;

	actor_derive(a, child);
	log_note(a, "fork %llx", (unsigned long long)child->process);
	space_lock();
	pid = child_fork();
	if (!pid) {
		regions_inherited();
		space_inherited(child->process);
		log_note(child, "born %d", getpid());
		return 0;
	}
	space_unlock();
	log_note(a, "forked %llx %d", (unsigned long long)child->process, pid);
	return pid;
}

/* With the CPU, in us, and the faults of the process and of those that it has waited for. */
void note_reaped(const struct actor *a, pid_t pid, const struct rusage *used)
{
	log_note(a, "reaped %d %lld %ld", pid,
		 (long long)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
			 used->ru_utime.tv_usec + used->ru_stime.tv_usec,
		 used->ru_minflt);
}

void reap_child(const struct actor *a, pid_t pid)
{
	struct rusage used;
	int status = child_reap_usage(pid, &used);

	note_reaped(a, pid, &used);
	errno = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		truth_fail("a child ended with %d", WEXITSTATUS(status));
}

void end_process(const struct actor *a)
{
	log_note(a, "exit");
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

static void arguments_write(struct arguments *out, const struct actor *a, unsigned image,
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
void process_exec(struct actor *a, const char *program, long arg)
{
	struct arguments args;
	uint64_t owner;
	unsigned image;

	space_names(&owner, &image);
	arguments_write(&args, a, owner == a->process ? image + 1 : 1, program, arg);
	log_note(a, "exec");
	execve(own_path, args.list, environ);
	truth_fail("exec of itself");
}

/* A process in this address space; its stack counts as one of the space. -1: there is no stack. */
pid_t begin_sharer(struct actor *a, struct actor *child, int (*run)(void *))
{
	char *stack = stack_take(a);
	pid_t pid;

	if (!stack)
		return -1;
	actor_derive(a, child);
	child->is_sharer = true;
	log_note(a, "share %llx", (unsigned long long)child->process);
	pid = clone(run, stack + STACK_BYTES, CLONE_VM | SIGCHLD, child);
	if (pid < 0)
		truth_fail("clone");
	log_note(a, "forked %llx %d", (unsigned long long)child->process, pid);
	return pid;
}

void vfork_small(struct actor *a)
{
	struct arguments args;
	struct actor child;
	pid_t pid;

	actor_derive(a, &child);
	arguments_write(&args, &child, 1, "small", chance_between(a, 0, 8));
	log_note(a, "share %llx", (unsigned long long)child.process);
	pid = vfork();
	if (pid < 0)
		truth_fail("vfork");
	if (!pid) {
		log_note(&child, "born %d", getpid());
		log_note(&child, "exec");
		execve(own_path, args.list, environ);
		_exit(TRUTH_ERROR);
	}
	log_note(a, "forked %llx %d", (unsigned long long)child.process, pid);
	reap_child(a, pid);
}

void spawn_small(struct actor *a)
{
	struct arguments args;
	struct actor child;
	pid_t pid;

	actor_derive(a, &child);
	arguments_write(&args, &child, 1, "small", chance_between(a, 0, 8));
	log_note(a, "share %llx", (unsigned long long)child.process);
	errno = posix_spawn(&pid, own_path, NULL, NULL, args.list, environ);
	if (errno)
		truth_fail("posix_spawn");
	log_note(a, "forked %llx %d", (unsigned long long)child.process, pid);
	reap_child(a, pid);
}

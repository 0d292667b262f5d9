// SPDX-License-Identifier: BSD-2-Clause
/* Attaching to what is there: the same books as of a run, from the attachment on. */
#include "guest.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUP "/sys/fs/cgroup/bpfmon-attach"

/* A process that waits for a word, and then is `witness` with COMMAND. */
struct target {
	pid_t pid;
	int go;
};

static void target_start(struct target *t, const char *command)
{
	int ends[2];
	char c;

	if (pipe(ends))
		fail("no pipe: %m");
	fflush(stdout);
	t->pid = fork();
	if (!t->pid) {
		close(ends[1]);
		if (read(ends[0], &c, 1) == 1)
			exec_witness(command);
		_exit(99);
	}
	close(ends[0]);
	t->go = ends[1];
}

static void target_go(struct target *t)
{
	if (write(t->go, "g", 1) != 1)
		fail("the target does not listen: %m");
	close(t->go);
	waitpid(t->pid, NULL, 0);
}

static void write_pid(const char *path, pid_t pid)
{
	FILE *f = fopen(path, "we");

	if (!f || fprintf(f, "%d\n", pid) < 0 || fclose(f))
		fail("%s cannot be written: %m", path);
}

static void to_a_process(struct run *r)
{
	struct target t;
	char options[64];

	target_start(&t, "seqchildren 40 10");
	snprintf(options, sizeof(options), "--pid %d -i 0.05", t.pid);
	attach_begin(r, options);
	target_go(&t);
	run_end(r);
	check_books(r, REAPED);
}

/* Removes the cgroup, which ends the attachment; the CPU that it had used. */
static double group_end(struct run *r)
{
	FILE *f = fopen(GROUP "/cpu.stat", "re");
	double usage = 0;

	if (!f || fscanf(f, "usage_usec %lf", &usage) != 1)
		fail("the cgroup does not tell its CPU");
	if (f)
		fclose(f);
	while (rmdir(GROUP) && !run_is_over(r))
		usleep(10000);
	run_end(r);
	return usage / 1e6;
}

/* Somebody is moved in, and nobody leaves. */
static void to_a_cgroup(struct run *r)
{
	struct target t;
	double usage;

	if (mkdir(GROUP, 0755))
		fail(GROUP " cannot be made: %m");
	target_start(&t, "forkstorm 4 50");
	attach_begin(r, "--cgroup bpfmon-attach --wait-start -i 0.05");
	write_pid(GROUP "/cgroup.procs", t.pid);
	target_go(&t);
	usage = group_end(r);
	check_books(r, REAPED);
	expect(whole(r->summary, "left") == 0, "%lld left", whole(r->summary, "left"));
	check_seconds("CPU and the cgroup's", real(r->summary, "cpu_seconds"), usage);
}

/* What is used outside does not count. */
static void moved_in_and_out(struct run *r)
{
	struct target t;
	double usage;

	if (mkdir(GROUP, 0755))
		fail(GROUP " cannot be made: %m");
	target_start(&t, "spin 900");
	attach_begin(r, "--cgroup bpfmon-attach --wait-start -i 0.05");
	if (write(t.go, "g", 1) != 1)
		fail("the target does not listen: %m");
	usleep(300000);
	write_pid(GROUP "/cgroup.procs", t.pid);
	usleep(300000);
	write_pid("/sys/fs/cgroup/cgroup.procs", t.pid);
	waitpid(t.pid, NULL, 0);
	close(t.go);
	usage = group_end(r);
	check_complete(r);
	check_seconds("CPU inside", real(r->summary, "cpu_seconds"), usage);
	expect(whole(r->summary, "entered") + whole(r->summary, "left") >= 1,
	       "nobody came or left");
}

const struct test attach_tests[] = {
	{ "attach to a process", to_a_process },
	{ "attach to a cgroup", to_a_cgroup },
	{ "attach to a cgroup, moves", moved_in_and_out },
	{ 0 },
};

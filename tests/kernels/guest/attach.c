// SPDX-License-Identifier: BSD-2-Clause
/* Attachments to processes that exist: the same checks as of a run, from the attachment on. */
#include "guest.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUP "/sys/fs/cgroup/bpfmon-attach"
#define TICK_US 5000
#define PATIENCE 12000 /* ticks: a minute, in which all happens even where a CPU is emulated */

/* A process that waits for a byte, and then becomes `witness` with COMMAND. */
struct target {
	pid_t pid;
	int go;
};

static void target_start(struct target *t, const char *command)
{
	int ends[2];
	char c;

	if (pipe(ends))
		verdict_fail("no pipe: %m");
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
		verdict_fail("the target does not listen: %m");
	close(t->go);
	waitpid(t->pid, NULL, 0);
}

static void write_pid(const char *path, pid_t pid)
{
	FILE *f = fopen(path, "we");

	if (!f || fprintf(f, "%d\n", pid) < 0 || fclose(f))
		verdict_fail("%s cannot be written: %m", path);
}

static void attach_process(struct run *r)
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

/* Removes the cgroup, which ends the attachment; returns the CPU that it had used. */
static double group_end(struct run *r)
{
	FILE *f = fopen(GROUP "/cpu.stat", "re");
	double usage = 0;

	if (!f || fscanf(f, "usage_usec %lf", &usage) != 1)
		verdict_fail("the CPU of the cgroup cannot be read");
	if (f)
		fclose(f);
	while (rmdir(GROUP) && !run_is_over(r))
		usleep(10000);
	run_end(r);
	return usage / 1e6;
}

/* A process is moved in, and none leaves. */
static void attach_cgroup(struct run *r)
{
	struct target t;
	double usage;

	if (mkdir(GROUP, 0755))
		verdict_fail(GROUP " cannot be made: %m");
	target_start(&t, "forkstorm 4 50");
	attach_begin(r, "--cgroup bpfmon-attach --wait-start -i 0.05");
	write_pid(GROUP "/cgroup.procs", t.pid);
	target_go(&t);
	usage = group_end(r);
	check_books(r, REAPED);
	expect(field_whole(r->summary, "left") == 0, "%lld left", field_whole(r->summary, "left"));
	check_seconds("CPU and the cgroup's", field_real(r->summary, "cpu_seconds"), usage);
}

/* The child of @parent, once it has one. */
static pid_t child_of(pid_t parent)
{
	char path[64];
	pid_t child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	for (int i = 0; i < PATIENCE && child <= 0; i++) {
		FILE *f = fopen(path, "re");

		if (!f || fscanf(f, "%d", &child) != 1)
			usleep(TICK_US);
		if (f)
			fclose(f);
	}
	expect(child > 0, "no child of %d", parent);
	return child;
}

/* Waits until the first number in a file, behind @label, is @least. */
static void wait_for_number(const char *path, const char *label, double least)
{
	double value = 0;

	for (int i = 0; i < PATIENCE; i++) {
		FILE *f = fopen(path, "re");
		bool is_read = f && fscanf(f, label, &value) == 1;

		if (f)
			fclose(f);
		if (is_read && value >= least)
			return;
		usleep(TICK_US);
	}
	verdict_fail("%s is %.0f and does not reach %.0f", path, value, least);
}

/* A process uses a third of its CPU before it is moved in, a third inside, and a third after it was
 * moved out. */
static void attach_cgroup_moves(struct run *r)
{
	struct target t;
	char path[64];
	double usage;
	pid_t child;

	if (mkdir(GROUP, 0755))
		verdict_fail(GROUP " cannot be made: %m");
	target_start(&t, "spin 900");
	attach_begin(r, "--cgroup bpfmon-attach --wait-start -i 0.05");
	if (write(t.go, "g", 1) != 1)
		verdict_fail("the target does not listen: %m");
	child = child_of(t.pid);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", child);
	wait_for_number(path, "%lf", 300e6);
	write_pid(GROUP "/cgroup.procs", child);
	wait_for_number(GROUP "/cpu.stat", "usage_usec %lf", 300e3);
	write_pid("/sys/fs/cgroup/cgroup.procs", child);
	waitpid(t.pid, NULL, 0);
	close(t.go);
	usage = group_end(r);
	check_complete(r);
	check_seconds("CPU inside", field_real(r->summary, "cpu_seconds"), usage);
	/* the first process begins the run of --wait-start, and is not one that entered */
	check_between("processes", (double)field_whole(r->summary, "processes_total"), 1, 1);
	check_between("left", (double)field_whole(r->summary, "left"), 1, 1);
}

const struct test attach_tests[] = {
	TEST(attach_process, "attach to a process"),
	TEST(attach_cgroup, "attach to a cgroup"),
	TEST(attach_cgroup_moves, "attach to a cgroup, moves"),
	{ 0 },
};

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
static void to_a_cgroup(struct run *r)
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

/* CPU used outside does not count. */
static void moved_in_and_out(struct run *r)
{
	struct target t;
	double usage;

	if (mkdir(GROUP, 0755))
		verdict_fail(GROUP " cannot be made: %m");
	target_start(&t, "spin 900");
	attach_begin(r, "--cgroup bpfmon-attach --wait-start -i 0.05");
	if (write(t.go, "g", 1) != 1)
		verdict_fail("the target does not listen: %m");
	usleep(300000);
	write_pid(GROUP "/cgroup.procs", t.pid);
	usleep(300000);
	write_pid("/sys/fs/cgroup/cgroup.procs", t.pid);
	waitpid(t.pid, NULL, 0);
	close(t.go);
	usage = group_end(r);
	check_complete(r);
	check_seconds("CPU inside", field_real(r->summary, "cpu_seconds"), usage);
	expect(field_whole(r->summary, "entered") + field_whole(r->summary, "left") >= 1,
	       "no process entered or left");
}

const struct test attach_tests[] = {
	{ "attach to a process", to_a_process },
	{ "attach to a cgroup", to_a_cgroup },
	{ "attach to a cgroup, moves", moved_in_and_out },
	{ 0 },
};

// SPDX-License-Identifier: BSD-2-Clause
/* Trees of processes and threads of every kind, as in tests/bpf/test_trees.py. */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED 77

static void tree_check(struct run *r, const char *options, const char *command, unsigned flags)
{
	run_begin(r, options, command);
	run_end(r);
	check_books(r, flags);
}

static json_t *process_first(const struct run *r)
{
	return run_process(r, run_first(r));
}

/* The only child of the program. */
static json_t *process_child(const struct run *r)
{
	json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line) {
		const json_t *ppid = json_object_get(line, "ppid");

		if (ppid && json_integer_value(ppid) == run_first(r))
			return line;
	}
	verdict_fail("there is no child");
	return NULL;
}

#define TREE(name, options, command, flags)                                                        \
	static void name(struct run *r)                                                            \
	{                                                                                          \
		tree_check(r, options, command, flags);                                            \
	}
TREE(tree_spin, "", "spin 300", REAPED)
TREE(tree_seqchildren, "", "seqchildren 60 10", REAPED)
TREE(tree_ignchld, "", "ignchld 40 10", 0)
TREE(tree_away, "", "daemon -w 100", 0)
TREE(tree_cloneparent, "", "cloneparent 50", REAPED)
TREE(tree_threads, "", "threads 100 1", REAPED)
TREE(tree_forkstorm, "-i 0.05", "forkstorm 6 100", REAPED)
TREE(tree_many_samples, "-i 0.01", "forkstorm 4 50", REAPED)
TREE(tree_teardown, "", "teardown 100", REAPED)

static void tree_vforker(struct run *r)
{
	tree_check(r, "", "vforker 50 /truth/execnames", REAPED);
	expect(field_whole(r->summary, "execs") == 52, "%lld execs",
	       field_whole(r->summary, "execs"));
}

static void tree_spawner(struct run *r)
{
	tree_check(r, "", "spawner 50 /truth/execnames", REAPED);
	expect(field_whole(r->summary, "execs") == 52, "%lld execs",
	       field_whole(r->summary, "execs"));
}

static void tree_threadexec(struct run *r)
{
	run_begin(r, "", "threadexec /truth/spin 50");
	run_end(r);
	/* spin, which replaces the program, does not count the 4 */
	json_object_set_new(r->truth, "threads_created", json_integer(4));
	check_books(r, REAPED);
	expect(field_whole(process_first(r), "execs") == 2, "%lld execs",
	       field_whole(process_first(r), "execs"));
}

static void tree_leaderfirst(struct run *r)
{
	tree_check(r, "", "leaderfirst 100", REAPED);
	expect(field_whole(process_first(r), "rss_peak_bytes") >= 20 * MIB, "a peak of %lld",
	       field_whole(process_first(r), "rss_peak_bytes"));
}

static void tree_zombie(struct run *r)
{
	tree_check(r, "", "zombie 100 0.3", 0);
	check_seconds("CPU of the zombie",
		      field_real(run_process(r, (pid_t)field_whole(r->truth, "zombie_pid")),
				 "cpu_seconds"),
		      field_real(r->truth, "zombie_cpu_seconds"));
}

static void tree_killed(struct run *r)
{
	tree_check(r, "", "killed 100", REAPED);
	expect(field_whole(process_child(r), "signal") == 9, "signal %lld",
	       field_whole(process_child(r), "signal"));
}

static void tree_setuidchild(struct run *r)
{
	tree_check(r, "", "setuidchild 12345 50", REAPED);
	expect(field_whole(process_child(r), "uid") == 12345, "user %lld",
	       field_whole(process_child(r), "uid"));
}

static void tree_pidns(struct run *r)
{
	tree_check(r, "", "pidns 50", REAPED);
	expect(field_whole(run_process(r, (pid_t)field_whole(r->truth, "outside_pid")), "ns_pid") ==
		       1,
	       "the pid inside is not 1");
}

/* The number of workers is up to the kernel; but each is a thread of the process. */
static void tree_iouring(struct run *r)
{
	run_begin(r, "", "iouring 1000 " DISK);
	run_end(r);
	if (r->code == SKIPPED) {
		verdict_absent("the kernel has no io_uring (CONFIG_IO_URING), or forbids it");
		return;
	}
	check_books(r, REAPED | NO_THREAD_COUNT);
	expect(field_whole(process_first(r), "threads_total") >
		       field_whole(r->truth, "workers_seen"),
	       "%lld threads with %lld workers", field_whole(process_first(r), "threads_total"),
	       field_whole(r->truth, "workers_seen"));
}

static void ending_check(struct run *r, const char *command, int code, const char *key,
			 long long value)
{
	run_begin(r, "", command);
	run_end(r);
	expect(r->code == code, "%s: ended with %d", command, r->code);
	expect(field_whole(r->summary, "exit_code") == code, "%s: summary says %lld", command,
	       field_whole(r->summary, "exit_code"));
	expect(field_whole(process_first(r), key) == value, "%s: %s %lld", command, key,
	       field_whole(process_first(r), key));
	check_complete(r);
}

static void tree_endings(struct run *r)
{
	ending_check(r, "exitwith 42", 42, "exit_code", 42);
	ending_check(r, "selfkill 15", 128 + 15, "signal", 15);
	ending_check(r, "selfkill 11", 128 + 11, "signal", 11);
}

/* The witness is /proc/self/io, without its own read() and the write() of the witness. */
static void tree_iobytes(struct run *r)
{
	static const char *const same[] = { "read_bytes", "cancelled_write_bytes" };
	json_t *p;

	tree_check(r, "", "iobytes " DISK, REAPED);
	p = process_first(r);
	expect(field_whole(p, "rchar_bytes") ==
		       field_whole(r->truth, "rchar") + field_whole(r->truth, "witness_read_bytes"),
	       "rchar %lld", field_whole(p, "rchar_bytes"));
	expect(field_whole(p, "wchar_bytes") ==
		       field_whole(r->truth, "wchar") + field_whole(r->truth, "witness_bytes"),
	       "wchar %lld", field_whole(p, "wchar_bytes"));
	expect(field_whole(p, "syscr") == field_whole(r->truth, "syscr") + 1, "syscr %lld",
	       field_whole(p, "syscr"));
	expect(field_whole(p, "syscw") == field_whole(r->truth, "syscw") + 1, "syscw %lld",
	       field_whole(p, "syscw"));
	for (int i = 0; i < 2; i++)
		expect(field_whole(p, same[i]) == field_whole(r->truth, same[i]), "%s %lld",
		       same[i], field_whole(p, same[i]));
	expect(field_whole(p, "read_bytes") > 0, "nothing was read from the disk");
	check_between("write_bytes", (double)field_whole(p, "write_bytes"),
		      (double)field_whole(r->truth, "write_bytes"),
		      (double)field_whole(r->truth, "write_bytes") + 8192);
}

static void tree_faults(struct run *r)
{
	tree_check(r, "", "faults 5000", REAPED);
	expect(field_whole(r->truth, "minflt_delta") == 5000,
	       "the program had another number of faults");
	expect(field_whole(process_first(r), "minflt") == field_whole(r->wait4, "minflt"),
	       "%lld faults, wait4 has %lld", field_whole(process_first(r), "minflt"),
	       field_whole(r->wait4, "minflt"));
	expect(field_whole(process_first(r), "majflt") == field_whole(r->wait4, "majflt"),
	       "%lld major faults, wait4 has %lld", field_whole(process_first(r), "majflt"),
	       field_whole(r->wait4, "majflt"));
}

static json_t *span_only(const struct run *r)
{
	json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "kind")), "span"))
			return line;
	verdict_fail("there is no span");
	return NULL;
}

/* All that the program does is in the span, but for what it did before, as bpfmon. */
static void tree_span(struct run *r)
{
	json_t *span;

	run_begin(r, "", "../bpfmon span x -- /truth/seqchildren 60 10");
	run_end(r);
	check_books(r, REAPED);
	span = span_only(r);
	expect(json_is_true(json_object_get(span, "complete")), "it is not complete");
	expect(field_whole(span, "processes_total") == 61, "it has %lld processes",
	       field_whole(span, "processes_total"));
	expect(field_whole(span, "forks") == 60, "it has %lld forks", field_whole(span, "forks"));
	expect(field_whole(span, "pid") == run_first(r), "it is of another process");
	/* a tick of each child may be missing in what its parent got from wait4() */
	check_between("CPU of the span", field_real(span, "cpu_seconds"),
		      field_real(r->truth, "children_cpu_seconds") - 0.001, cpu_inside(r));
}

/* Tasks since boot, by the kernel's own count. */
static long long tasks_born(void)
{
	FILE *f = fopen("/proc/stat", "re");
	long long born = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "processes %lld", &born) != 1)
		;
	if (f)
		fclose(f);
	return born;
}

/* Chains, of which each process makes the next one and ends: one that is left would go on. */
static void chain_ended(struct run *r, const char *options)
{
	long long born;

	run_begin(r, options, "hardtoend chain 2 300");
	run_end(r);
	expect(r->code == 124, "it ended with %d", r->code);
	expect(strstr(r->messages, "ended the run in") && !strstr(r->messages, "left running"),
	       "%s", r->messages);
	born = tasks_born();
	usleep(300000);
	expect(tasks_born() - born < 50, "%lld tasks were born after the end of the run",
	       tasks_born() - born);
}

static void tree_ended(struct run *r)
{
	chain_ended(r, "--limit wall<0.3s --limit-grace 0.1");
}

/* By cgroup.kill alone. */
static void tree_ended_in_cgroup(struct run *r)
{
	chain_ended(r, "--limit wall<0.3s --limit-grace 0.1 --own-cgroup --inject-no-program "
		       "ends__call");
}

const struct test tree_tests[] = {
	TEST(tree_spin, "one process"),
	TEST(tree_seqchildren, "children in turn"),
	TEST(tree_span, "a span"),
	TEST(tree_ignchld, "children that are not waited for"),
	TEST(tree_away, "daemon"),
	TEST(tree_cloneparent, "child of a grandparent"),
	TEST(tree_vforker, "vfork"),
	TEST(tree_spawner, "posix_spawn"),
	TEST(tree_threads, "threads"),
	TEST(tree_threadexec, "exec by a thread"),
	TEST(tree_leaderfirst, "leader ends first"),
	TEST(tree_zombie, "zombie"),
	TEST(tree_killed, "killed child"),
	TEST(tree_setuidchild, "child of another user"),
	TEST(tree_pidns, "pid namespace"),
	TEST(tree_iouring, "io_uring"),
	TEST(tree_endings, "exit codes and signals"),
	TEST(tree_ended, "end of a run that forks"),
	TEST(tree_ended_in_cgroup, "end of a cgroup that forks"),
	TEST(tree_teardown, "teardown of memory"),
	TEST(tree_forkstorm, "storm of forks"),
	TEST(tree_many_samples, "a sample every 10 ms"),
	TEST(tree_iobytes, "input and output"),
	TEST(tree_faults, "page faults"),
	{ 0 },
};

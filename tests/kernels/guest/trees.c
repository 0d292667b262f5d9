// SPDX-License-Identifier: BSD-2-Clause
/* Trees of processes and threads of every kind, as in tests/bpf/test_trees.py. */
#include "guest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED 77

static void tree(struct run *r, const char *options, const char *command, unsigned flags)
{
	run_begin(r, options, command);
	run_end(r);
	check_books(r, flags);
}

static json_t *first(const struct run *r)
{
	return run_process(r, run_first(r));
}

/* The process whose parent is the program, where it has one child. */
static json_t *child(const struct run *r)
{
	json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line) {
		const json_t *ppid = json_object_get(line, "ppid");

		if (ppid && json_integer_value(ppid) == run_first(r))
			return line;
	}
	fail("there is no child");
	return NULL;
}

#define TREE(name, options, command, flags)                                                        \
	static void name(struct run *r)                                                            \
	{                                                                                          \
		tree(r, options, command, flags);                                                  \
	}
TREE(spin, "", "spin 300", REAPED)
TREE(seqchildren, "", "seqchildren 60 10", REAPED)
TREE(ignchld, "", "ignchld 40 10", 0)
TREE(away, "", "daemon -w 100", 0)
TREE(cloneparent, "", "cloneparent 50", REAPED)
TREE(threads, "", "threads 100 1", REAPED)
TREE(forkstorm, "-i 0.05", "forkstorm 6 100", REAPED)
TREE(many_samples, "-i 0.01", "forkstorm 4 50", REAPED)
TREE(teardown, "", "teardown 100", REAPED)

static void vforker(struct run *r)
{
	tree(r, "", "vforker 50 /truth/execnames", REAPED);
	expect(whole(r->summary, "execs") == 52, "%lld execs", whole(r->summary, "execs"));
}

static void spawner(struct run *r)
{
	tree(r, "", "spawner 50 /truth/execnames", REAPED);
	expect(whole(r->summary, "execs") == 52, "%lld execs", whole(r->summary, "execs"));
}

static void threadexec(struct run *r)
{
	run_begin(r, "", "threadexec /truth/spin 50");
	run_end(r);
	/* spin, which takes its place, knows nothing of the 4 */
	json_object_set_new(r->truth, "threads_created", json_integer(4));
	check_books(r, REAPED);
	expect(whole(first(r), "execs") == 2, "%lld execs", whole(first(r), "execs"));
}

static void leaderfirst(struct run *r)
{
	tree(r, "", "leaderfirst 100", REAPED);
	expect(whole(first(r), "rss_peak_bytes") >= 20 * MIB, "a peak of %lld",
	       whole(first(r), "rss_peak_bytes"));
}

static void zombie(struct run *r)
{
	tree(r, "", "zombie 100 0.3", 0);
	check_seconds("CPU of the zombie",
		      real(run_process(r, (pid_t)whole(r->truth, "zombie_pid")), "cpu_seconds"),
		      real(r->truth, "zombie_cpu_seconds"));
}

static void killed(struct run *r)
{
	tree(r, "", "killed 100", REAPED);
	expect(whole(child(r), "signal") == 9, "signal %lld", whole(child(r), "signal"));
}

static void setuidchild(struct run *r)
{
	tree(r, "", "setuidchild 12345 50", REAPED);
	expect(whole(child(r), "uid") == 12345, "user %lld", whole(child(r), "uid"));
}

static void pidns(struct run *r)
{
	tree(r, "", "pidns 50", REAPED);
	expect(whole(run_process(r, (pid_t)whole(r->truth, "outside_pid")), "ns_pid") == 1,
	       "the pid inside is not 1");
}

/* How many workers the kernel makes is its own business; that each is a thread of the process is
 * not. */
static void iouring(struct run *r)
{
	run_begin(r, "", "iouring 1000 " DISK);
	run_end(r);
	if (r->code == SKIPPED) {
		absent("the kernel has no io_uring with workers that are threads of the process");
		return;
	}
	check_books(r, REAPED | NO_THREAD_COUNT);
	expect(whole(first(r), "threads_total") > whole(r->truth, "workers_seen"),
	       "%lld threads with %lld workers", whole(first(r), "threads_total"),
	       whole(r->truth, "workers_seen"));
}

static void ending(struct run *r, const char *command, int code, const char *key, long long value)
{
	run_begin(r, "", command);
	run_end(r);
	expect(r->code == code, "%s: ended with %d", command, r->code);
	expect(whole(r->summary, "exit_code") == code, "%s: summary says %lld", command,
	       whole(r->summary, "exit_code"));
	expect(whole(first(r), key) == value, "%s: %s %lld", command, key, whole(first(r), key));
	check_complete(r);
}

static void endings(struct run *r)
{
	ending(r, "exitwith 42", 42, "exit_code", 42);
	ending(r, "selfkill 15", 128 + 15, "signal", 15);
	ending(r, "selfkill 11", 128 + 11, "signal", 11);
}

/* /proc/self/io is the witness; it has neither its own reading in it nor the telling of it. */
static void iobytes(struct run *r)
{
	static const char *const same[] = { "read_bytes", "cancelled_write_bytes" };
	json_t *p;

	tree(r, "", "iobytes " DISK, REAPED);
	p = first(r);
	expect(whole(p, "rchar_bytes") ==
		       whole(r->truth, "rchar") + whole(r->truth, "witness_read_bytes"),
	       "rchar %lld", whole(p, "rchar_bytes"));
	expect(whole(p, "wchar_bytes") ==
		       whole(r->truth, "wchar") + whole(r->truth, "witness_bytes"),
	       "wchar %lld", whole(p, "wchar_bytes"));
	expect(whole(p, "syscr") == whole(r->truth, "syscr") + 1, "syscr %lld", whole(p, "syscr"));
	expect(whole(p, "syscw") == whole(r->truth, "syscw") + 1, "syscw %lld", whole(p, "syscw"));
	for (int i = 0; i < 2; i++)
		expect(whole(p, same[i]) == whole(r->truth, same[i]), "%s %lld", same[i],
		       whole(p, same[i]));
	expect(whole(p, "read_bytes") > 0, "nothing was read from the disk");
	check_between("write_bytes", (double)whole(p, "write_bytes"),
		      (double)whole(r->truth, "write_bytes"),
		      (double)whole(r->truth, "write_bytes") + 8192);
}

static void faults(struct run *r)
{
	tree(r, "", "faults 5000", REAPED);
	expect(whole(r->truth, "minflt_delta") == 5000, "the program had another number of faults");
	expect(whole(first(r), "minflt") == whole(r->wait4, "minflt"),
	       "%lld faults, wait4 has %lld", whole(first(r), "minflt"), whole(r->wait4, "minflt"));
	expect(whole(first(r), "majflt") == whole(r->wait4, "majflt"),
	       "%lld major faults, wait4 has %lld", whole(first(r), "majflt"),
	       whole(r->wait4, "majflt"));
}

const struct test tree_tests[] = {
	{ "one process", spin },
	{ "children in turn", seqchildren },
	{ "children that nobody waits for", ignchld },
	{ "daemon", away },
	{ "child of a grandparent", cloneparent },
	{ "vfork", vforker },
	{ "posix_spawn", spawner },
	{ "threads", threads },
	{ "exec by a thread", threadexec },
	{ "leader ends first", leaderfirst },
	{ "zombie", zombie },
	{ "killed child", killed },
	{ "child of another user", setuidchild },
	{ "pid namespace", pidns },
	{ "io_uring", iouring },
	{ "exit codes and signals", endings },
	{ "teardown of memory", teardown },
	{ "storm of forks", forkstorm },
	{ "a sample every 10 ms", many_samples },
	{ "input and output", iobytes },
	{ "page faults", faults },
	{ 0 },
};

// SPDX-License-Identifier: BSD-2-Clause
/* A tree of cgroups v2 with its memory controller: a third witness of the CPU, swap, lack of
 * memory. */
#include "guest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/bpfmon-test"
#define BEFORE "/tmp/before.json"

static void write_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		fail("%s cannot be written: %m", path);
}

/* The number after KEY in a file of "KEY NUMBER" lines. */
static long long read_from(const char *path, const char *key)
{
	char line[256];
	long long value = -1;
	size_t length = strlen(key);
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, length) && strchr(" \t:", line[length]))
			value = atoll(line + length + strspn(line + length, " \t:"));
	if (f)
		fclose(f);
	return value;
}

static void group_make(void)
{
	rmdir(GROUP);
	if (mkdir(GROUP, 0755))
		fail("%s cannot be made: %m", GROUP);
}

/* Of the CPU until the move the cgroup has a part: the move itself, and what was not yet charged.
 */
static void cpu_of_a_group(struct run *r)
{
	json_t *before;
	double inside, joined, usage;

	group_make();
	setenv("TRUTH_BEFORE", BEFORE, 1);
	run_begin(r, "", "incgroup " GROUP " /truth/seqchildren 40 10");
	run_end(r);
	unsetenv("TRUTH_BEFORE");
	check_books(r, REAPED);
	before = json_load_file(BEFORE, 0, NULL);
	joined = real(before, "cpu_joined_seconds");
	json_decref(before);
	inside = cpu_inside(r);
	usage = (double)read_from(GROUP "/cpu.stat", "usage_usec") / 1e6;
	check_between("CPU and the cgroup's", inside, usage * 0.99 - 0.010,
		      (usage + joined) * 1.01 + 0.010);
}

static const json_t *event(const struct run *r)
{
	const json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "kind")), "event"))
			return line;
	fail("there is no event");
	return NULL;
}

static void out_of_memory(struct run *r)
{
	const char *name;

	group_make();
	write_to(GROUP "/memory.max", "52428800");
	write_to(GROUP "/memory.swap.max", "0");
	run_begin(r, "", "incgroup " GROUP " /truth/touch 200 10");
	run_end(r);
	check_complete(r);
	expect(r->code == 128 + 9, "ended with %d", r->code);
	expect(whole(r->summary, "oom_kills") == read_from(GROUP "/memory.events", "oom_kill"),
	       "%lld killed, the cgroup has %lld", whole(r->summary, "oom_kills"),
	       read_from(GROUP "/memory.events", "oom_kill"));
	expect(whole(r->summary, "oom_kills") == 1, "%lld killed", whole(r->summary, "oom_kills"));
	expect(whole(event(r), "limit_bytes") == 50 * MIB, "a limit of %lld",
	       whole(event(r), "limit_bytes"));
	name = json_string_value(json_object_get(event(r), "cgroup"));
	expect(name && !strcmp(name, "bpfmon-test"), "the cgroup %s", name ? name : "of no name");
	expect(whole(event(r), "pid") == run_first(r), "the victim %lld", whole(event(r), "pid"));
	if (json_object_get(event(r), "rss_bytes"))
		check_between("rss of the victim", (double)whole(event(r), "rss_bytes"), 45.0 * MIB,
			      52.0 * MIB);
	else
		absent("the kernel tells only the pid of whom it kills, not what it held");
	expect(whole(run_process(r, run_first(r)), "signal") == 9, "the victim's signal is %lld",
	       whole(run_process(r, run_first(r)), "signal"));
}

static long long swapped_out(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_from(path, "VmSwap") * 1024;
}

/* The largest that /proc says of the one process of the group, while the run goes on. */
static long long watch_swap(struct run *r)
{
	long long most = 0, now;

	while (!run_is_over(r)) {
		FILE *f = fopen(GROUP "/cgroup.procs", "re");
		int pid = 0;

		if (f && fscanf(f, "%d", &pid) == 1 && pid) {
			now = swapped_out(pid);
			most = now > most ? now : most;
		}
		if (f)
			fclose(f);
		usleep(20000);
	}
	return most;
}

static void swap(struct run *r)
{
	long long witnessed, most = 0, value;
	const json_t *line;
	size_t i;

	group_make();
	write_to(GROUP "/memory.max", "67108864");
	run_begin(r, "-i 0.05", "incgroup " GROUP " /truth/touch 200 500");
	witnessed = watch_swap(r);
	run_end(r);
	check_books(r, REAPED);
	json_array_foreach(r->lines, i, line) {
		value = json_integer_value(json_object_get(line, "swap_bytes"));
		most = value > most ? value : most;
	}
	check_between("swap", (double)most, 0.99 * (double)witnessed, 1.01 * (double)witnessed);
	expect(witnessed >= 130 * MIB, "only %lld swapped out", witnessed);
}

/* memory.peak is there since 5.19; without it the samples' largest is all that can be told. */
static void own_group(struct run *r)
{
	run_begin(r, "-i 0.05 --own-cgroup", "touch 100 300");
	run_end(r);
	check_books(r, REAPED);
	if (json_object_get(r->summary, "cgroup_peak_bytes"))
		check_between("peak of the cgroup", (double)whole(r->summary, "cgroup_peak_bytes"),
			      100.0 * MIB, 110.0 * MIB);
	else
		absent("the kernel keeps no peak of a cgroup: needs memory.peak (5.19)");
	check_between("its anonymous memory", (double)whole(r->summary, "cgroup_peak_anon_bytes"),
		      99.0 * MIB, 104.0 * MIB);
}

const struct test cgroup_tests[] = {
	{ "cgroup v2, CPU", cpu_of_a_group },
	{ "cgroup v2, the command's own", own_group },
	{ "cgroup v2, out of memory", out_of_memory },
	{ "cgroup v2, swap", swap },
	{ 0 },
};

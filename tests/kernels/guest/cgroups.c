// SPDX-License-Identifier: BSD-2-Clause
/* A tree of cgroups v2 with the memory controller: a third witness of CPU, swap and OOM kills. */
#include "guest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/bpfmon-test"
#define BEFORE "/tmp/before.json"

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		verdict_fail("%s cannot be written: %m", path);
}

/* The number after KEY in a file of "KEY NUMBER" lines. */
static long long file_read_number(const char *path, const char *key)
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

/* The cgroup of the test before is busy until its last process is reaped. */
static void group_make(void)
{
	for (int i = 0; i < 1000 && rmdir(GROUP) && errno == EBUSY; i++)
		usleep(10000);
	if (mkdir(GROUP, 0755))
		verdict_fail("%s cannot be made: %m", GROUP);
}

/* The cgroup has part of the CPU until the move: the move itself, and what was not yet charged. */
static void cgroup_cpu(struct run *r)
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
	joined = field_real(before, "cpu_joined_seconds");
	json_decref(before);
	inside = cpu_inside(r);
	usage = (double)file_read_number(GROUP "/cpu.stat", "usage_usec") / 1e6;
	check_between("CPU and the cgroup's", inside, usage * 0.99 - 0.010,
		      (usage + joined) * 1.01 + 0.010);
}

static const json_t *event_first(const struct run *r)
{
	const json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "kind")), "event"))
			return line;
	verdict_fail("there is no event");
	return NULL;
}

static void cgroup_oom(struct run *r)
{
	const char *name;

	group_make();
	file_write(GROUP "/memory.max", "52428800");
	file_write(GROUP "/memory.swap.max", "0");
	run_begin(r, "", "incgroup " GROUP " /truth/touch 200 10");
	run_end(r);
	check_complete(r);
	expect(r->code == 128 + 9, "ended with %d", r->code);
	expect(field_whole(r->summary, "oom_kills") ==
		       file_read_number(GROUP "/memory.events", "oom_kill"),
	       "%lld killed, the cgroup has %lld", field_whole(r->summary, "oom_kills"),
	       file_read_number(GROUP "/memory.events", "oom_kill"));
	expect(field_whole(r->summary, "oom_kills") == 1, "%lld killed",
	       field_whole(r->summary, "oom_kills"));
	expect(field_whole(event_first(r), "limit_bytes") == 50 * MIB, "a limit of %lld",
	       field_whole(event_first(r), "limit_bytes"));
	name = json_string_value(json_object_get(event_first(r), "cgroup"));
	expect(name && !strcmp(name, "bpfmon-test"), "the cgroup %s", name ? name : "of no name");
	expect(field_whole(event_first(r), "pid") == run_first(r), "the victim %lld",
	       field_whole(event_first(r), "pid"));
	if (json_object_get(event_first(r), "rss_bytes"))
		check_between("rss of the victim", (double)field_whole(event_first(r), "rss_bytes"),
			      45.0 * MIB, 52.0 * MIB);
	else
		verdict_absent("the kernel reports only the pid of the victim, not its memory");
	expect(field_whole(run_process(r, run_first(r)), "signal") == 9,
	       "the victim's signal is %lld", field_whole(run_process(r, run_first(r)), "signal"));
}

/* bpfmon is in the cgroup itself, and all that is in it is killed but for what may not be. */
static void cgroup_oom_with_bpfmon(struct run *r)
{
	group_make();
	file_write(GROUP "/memory.max", "104857600");
	file_write(GROUP "/memory.swap.max", "0");
	file_write(GROUP "/memory.oom.group", "1");
	file_write(GROUP "/cgroup.procs", "0");
	run_begin(r, "", "touch 200 10");
	file_write(ROOT "/cgroup.procs", "0"); /* this process may be killed */
	run_end(r);
	check_complete(r);
	expect(r->code == 128 + 9, "ended with %d: %s", r->code, r->messages);
	expect(field_whole(r->summary, "oom_kills") >= 1, "none was killed");
}

static long long swap_read_bytes(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return file_read_number(path, "VmSwap") * 1024;
}

/* The largest value in /proc of the only process of the group, during the run. */
static long long swap_watch(struct run *r)
{
	long long most = 0, now;

	while (!run_is_over(r)) {
		FILE *f = fopen(GROUP "/cgroup.procs", "re");
		int pid = 0;

		if (f && fscanf(f, "%d", &pid) == 1 && pid) {
			now = swap_read_bytes(pid);
			most = now > most ? now : most;
		}
		if (f)
			fclose(f);
		usleep(20000);
	}
	return most;
}

static void cgroup_swap(struct run *r)
{
	long long witnessed, most = 0, value;
	const json_t *line;
	size_t i;

	group_make();
	file_write(GROUP "/memory.max", "67108864");
	run_begin(r, "-i 0.05", "incgroup " GROUP " /truth/touch 200 500");
	witnessed = swap_watch(r);
	run_end(r);
	check_books(r, REAPED);
	json_array_foreach(r->lines, i, line) {
		value = json_integer_value(json_object_get(line, "swap_bytes"));
		most = value > most ? value : most;
	}
	check_between("swap", (double)most, 0.99 * (double)witnessed, 1.01 * (double)witnessed);
	expect(witnessed >= 130 * MIB, "only %lld swapped out", witnessed);
}

/* Without memory.peak (5.19) the largest sample is the only value. */
static void cgroup_own(struct run *r)
{
	run_begin(r, "-i 0.05 --own-cgroup", "touch 100 300");
	run_end(r);
	check_books(r, REAPED);
	if (json_object_get(r->summary, "cgroup_peak_bytes"))
		check_between("peak of the cgroup",
			      (double)field_whole(r->summary, "cgroup_peak_bytes"), 100.0 * MIB,
			      110.0 * MIB);
	else
		verdict_absent("the kernel keeps no peak of a cgroup: needs memory.peak (5.19)");
	check_between("its anonymous memory",
		      (double)field_whole(r->summary, "cgroup_peak_anon_bytes"), 99.0 * MIB,
		      104.0 * MIB);
}

const struct test cgroup_tests[] = {
	TEST(cgroup_cpu, "cgroup v2, CPU"),
	TEST(cgroup_own, "cgroup v2, the command's own"),
	TEST(cgroup_oom, "cgroup v2, out of memory"),
	TEST(cgroup_oom_with_bpfmon, "cgroup v2, out of memory with bpfmon in it"),
	TEST(cgroup_swap, "cgroup v2, swap"),
	{ 0 },
};

// SPDX-License-Identifier: BSD-2-Clause
/* Peaks: of a process, by the kernel's high-water mark; of the tree, event by event. */
#include "guest.h"

#include <string.h>

static json_t *by_comm(const struct run *r, const char *comm)
{
	json_t *line;
	size_t i;

	json_array_foreach(r->lines, i, line) {
		const json_t *value = json_object_get(line, "comm");

		if (value && !strcmp(json_string_value(value), comm))
			return line;
	}
	verdict_fail("there is no %s", comm);
	return NULL;
}

static bool is_exact(const json_t *process)
{
	return json_is_true(json_object_get(process, "rss_peak_exact"));
}

/* Within 2 % where it is reported as exact; else not below. */
static void check_peak(const json_t *process, double truly)
{
	double found = (double)field_whole(process, "rss_peak_bytes");

	check_between("peak", found, 0.98 * truly, is_exact(process) ? 1.02 * truly : 1e15);
}

static void peak_check_touch(struct run *r, const char *command)
{
	const json_t *process;

	run_begin(r, "", command);
	run_end(r);
	check_books(r, REAPED);
	process = run_process(r, run_first(r));
	check_peak(process, (double)field_whole(r->wait4, "maxrss_kb") * 1024);
	expect(field_whole(process, "rss_peak_bytes") >= 100 * MIB, "a peak of %lld",
	       field_whole(process, "rss_peak_bytes"));
	if (!is_exact(process))
		verdict_absent("the address space is gone at exit (before 6.16): the peak is an "
			       "upper bound");
}

static void peak_given_back(struct run *r)
{
	peak_check_touch(r, "touch 100 20 free");
}

static void peak_at_end(struct run *r)
{
	peak_check_touch(r, "touch 100 20 exit");
}

/* The child shares its parent's memory until it execs. */
static void peak_small_child(struct run *r)
{
	const json_t *child;

	run_begin(r, "", "bigparent 150 3 /truth/execnames");
	run_end(r);
	check_books(r, REAPED);
	check_peak(by_comm(r, "bigparent"), (double)field_whole(r->truth, "maxrss_kb") * 1024);
	child = by_comm(r, "execnames");
	check_between("peak of the child", (double)field_whole(child, "rss_peak_bytes"), 1,
		      is_exact(child) ? 4.0 * MIB
				      : 1.02 * 1024 * (double)field_whole(r->truth, "maxrss_kb"));
	if (!is_exact(child))
		verdict_absent("the address space is gone at exit (before 6.16): "
			       "the child's peak is an upper bound, that of its parent");
}

static void peak_check_hoarders(struct run *r, const char *command, double truly)
{
	run_begin(r, "--exact-peak", command);
	run_end(r);
	check_books(r, REAPED);
	check_between("exact peak", (double)field_whole(r->summary, "rss_peak_exact_bytes"),
		      0.98 * truly, 1.02 * truly + 2.0 * MIB);
}

static void peak_exact_together(struct run *r)
{
	peak_check_hoarders(r, "hoarders together 4 50 20", 200.0 * MIB);
}

static void peak_exact_in_turn(struct run *r)
{
	peak_check_hoarders(r, "hoarders turn 4 50 20", 50.0 * MIB);
}

const struct test memory_tests[] = {
	TEST(peak_given_back, "peak that was given back"),
	TEST(peak_at_end, "peak held to the end"),
	TEST(peak_small_child, "small child of a big parent"),
	TEST(peak_exact_together, "exact peak, together"),
	TEST(peak_exact_in_turn, "exact peak, in turn"),
	{ 0 },
};

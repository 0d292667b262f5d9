// SPDX-License-Identifier: BSD-2-Clause
/* Peaks: of a process, as the kernel's mark says; of the tree, event by event. */
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
	fail("there is no %s", comm);
	return NULL;
}

static bool is_exact(const json_t *process)
{
	return json_is_true(json_object_get(process, "rss_peak_exact"));
}

/* Within 2 % where it is said to be exact; else not below. */
static void check_peak(const json_t *process, double truly)
{
	double found = (double)whole(process, "rss_peak_bytes");

	check_between("peak", found, 0.98 * truly, is_exact(process) ? 1.02 * truly : 1e15);
}

static void touch(struct run *r, const char *command)
{
	const json_t *process;

	run_begin(r, "", command);
	run_end(r);
	check_books(r, REAPED);
	process = run_process(r, run_first(r));
	check_peak(process, (double)whole(r->wait4, "maxrss_kb") * 1024);
	expect(whole(process, "rss_peak_bytes") >= 100 * MIB, "a peak of %lld",
	       whole(process, "rss_peak_bytes"));
	if (!is_exact(process))
		absent("the peak is an upper bound");
}

static void given_back(struct run *r)
{
	touch(r, "touch 100 20 free");
}

static void at_the_end(struct run *r)
{
	touch(r, "touch 100 20 exit");
}

/* The child shares its parent's memory until it execs. */
static void child_of_big_parent(struct run *r)
{
	const json_t *child;

	run_begin(r, "", "bigparent 150 3 /truth/execnames");
	run_end(r);
	check_books(r, REAPED);
	check_peak(by_comm(r, "bigparent"), (double)whole(r->truth, "maxrss_kb") * 1024);
	child = by_comm(r, "execnames");
	check_between("peak of the child", (double)whole(child, "rss_peak_bytes"), 1,
		      is_exact(child) ? 4.0 * MIB
				      : 1.02 * 1024 * (double)whole(r->truth, "maxrss_kb"));
	if (!is_exact(child))
		absent("the child's peak is an upper bound, that of its parent");
}

static void hoard(struct run *r, const char *command, double truly)
{
	run_begin(r, "--exact-peak", command);
	run_end(r);
	check_books(r, REAPED);
	check_between("exact peak", (double)whole(r->summary, "rss_peak_exact_bytes"), 0.98 * truly,
		      1.02 * truly + 2.0 * MIB);
}

static void together(struct run *r)
{
	hoard(r, "hoarders together 4 50 20", 200.0 * MIB);
}

static void in_turn(struct run *r)
{
	hoard(r, "hoarders turn 4 50 20", 50.0 * MIB);
}

const struct test memory_tests[] = {
	{ "peak that was given back", given_back },
	{ "peak held to the end", at_the_end },
	{ "small child of a big parent", child_of_big_parent },
	{ "exact peak, together", together },
	{ "exact peak, in turn", in_turn },
	{ 0 },
};

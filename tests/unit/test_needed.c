// SPDX-License-Identifier: BSD-2-Clause
#include "run/summary.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define MIB (1ULL << 20)
#define SEEN(...) .seen = { __VA_ARGS__ }
#define EXACT(bytes) .has_rss_peak_exact = true, .rss_peak_exact_bytes = (bytes)
#define SAMPLE(bytes) .has_rss_peak = true, .rss_peak_bytes = (bytes)
#define UPPER(bytes) .has_rss_peak_upper = true, .rss_peak_upper_bytes = (bytes)
#define LARGEST(bytes)                                                                             \
	.has_process_rss_peak = true, .process_rss_peak_exact = true,                              \
	.process_rss_peak_bytes = (bytes)
#define CGROUP(bytes) .has_cgroup = true, .cgroup_bytes = (bytes)
#define MARK(bytes) .has_cgroup_most = true, .cgroup_most_bytes = (bytes)
#define PSS(bytes, rss) .has_pss = true, .pss_bytes = (bytes), .covered_rss_bytes = (rss)

/* clang-format off */
static const struct {
	struct summary run;
	const char *witness, *bound;
	uint64_t bytes;
} cases[] = {
	{ { 0 }, "", "", 0 },
	/* RSS: of one process it is what the run needs; of several it may count pages twice */
	{ { EXACT(100 * MIB), LARGEST(95 * MIB) }, "rss", "equal", 100 * MIB },
	{ { EXACT(100 * MIB), LARGEST(50 * MIB) }, "rss", "at_most", 100 * MIB },
	{ { SAMPLE(60 * MIB), UPPER(100 * MIB), LARGEST(50 * MIB) }, "rss", "at_most", 100 * MIB },
	{ { SAMPLE(60 * MIB), LARGEST(50 * MIB) }, "rss", "at_least", 60 * MIB },
	{ { LARGEST(50 * MIB) }, "rss", "at_least", 50 * MIB },
	/* an upper bound below what a sample has seen is none */
	{ { SAMPLE(60 * MIB), UPPER(10 * MIB) }, "rss", "at_least", 60 * MIB },
	/* the cgroup: near the kernel's mark it is known, */
	{ { EXACT(900 * MIB), SEEN(CGROUP(300 * MIB), MARK(310 * MIB), .sample_rss_bytes = 900 * MIB) },
	  "cgroup", "equal", 310 * MIB },
	/* with page cache the mark is far above it, and samples have seen all that was resident, */
	{ { EXACT(910 * MIB), SEEN(CGROUP(300 * MIB), MARK(2000 * MIB), .sample_rss_bytes = 900 * MIB) },
	  "cgroup", "equal", 310 * MIB },
	/* or have not: then the mark is a bound; */
	{ { EXACT(990 * MIB), SEEN(CGROUP(300 * MIB), MARK(2000 * MIB), .sample_rss_bytes = 900 * MIB) },
	  "cgroup", "at_most", 2000 * MIB },
	/* without a bound of RSS it is what was seen */
	{ { SAMPLE(900 * MIB), SEEN(CGROUP(300 * MIB), MARK(2000 * MIB), .sample_rss_bytes = 900 * MIB) },
	  "cgroup", "at_least", 300 * MIB },
	/* files in memory, which no process maps */
	{ { EXACT(5 * MIB), LARGEST(5 * MIB), SEEN(CGROUP(300 * MIB), MARK(301 * MIB), .sample_rss_bytes = 5 * MIB) },
	  "cgroup", "equal", 301 * MIB },
	/* of one process RSS is as good */
	{ { EXACT(100 * MIB), LARGEST(100 * MIB), SEEN(CGROUP(98 * MIB), MARK(99 * MIB)) }, "rss", "equal", 100 * MIB },
	/* PSS: read where most was resident; */
	{ { EXACT(2000 * MIB), LARGEST(210 * MIB), SEEN(PSS(208 * MIB, 1990 * MIB)) }, "pss", "equal", 218 * MIB },
	/* more was resident at another time; */
	{ { EXACT(2000 * MIB), LARGEST(210 * MIB), SEEN(PSS(208 * MIB, 1900 * MIB)) }, "pss", "at_most", 308 * MIB },
	/* it could not be read at another time; */
	{ { EXACT(2000 * MIB), LARGEST(210 * MIB), SEEN(PSS(208 * MIB, 900 * MIB), .unread_rss_bytes = 1990 * MIB) },
	  "rss", "at_most", 2000 * MIB },
	{ { SAMPLE(2000 * MIB), LARGEST(210 * MIB), SEEN(PSS(208 * MIB, 1990 * MIB)) }, "pss", "at_least", 208 * MIB },
	/* what a line has said remains */
	{ { EXACT(900 * MIB), .needed = { .bytes = 7, .witness = "pss", .bound = "at_least" } }, "pss", "at_least", 7 },
};
/* clang-format on */

static void the_best_source_is_taken_and_a_bound_is_called_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct memory_needed n = memory_needed_of(&cases[i].run);

		if (n.bytes != cases[i].bytes || strcmp(n.witness, cases[i].witness) != 0 ||
		    strcmp(n.bound, cases[i].bound) != 0)
			fail_msg("case %zu: %s %s %llu MiB", i, n.witness, n.bound,
				 (unsigned long long)n.bytes / MIB);
	}
}

static void files_in_memory_are_named_unless_a_cgroup_has_them(void **state)
{
	const struct summary named[] = {
		{ EXACT(100 * MIB), LARGEST(100 * MIB), SEEN(.unmapped_bytes = 300 * MIB) },
		{ EXACT(900 * MIB), LARGEST(210 * MIB),
		  SEEN(PSS(208 * MIB, 890 * MIB), .unmapped_bytes = 300 * MIB) },
	};
	const struct summary others[] = {
		{ EXACT(100 * MIB), LARGEST(100 * MIB),
		  SEEN(CGROUP(98 * MIB), MARK(99 * MIB), .unmapped_bytes = 300 * MIB) },
		{ EXACT(900 * MIB),
		  SEEN(CGROUP(300 * MIB), MARK(310 * MIB), .unmapped_bytes = 300 * MIB) },
		{ EXACT(MIB), LARGEST(MIB), SEEN(.unmapped_bytes = MIB / 2) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		assert_int_equal(memory_needed_of(&named[i]).unmapped_bytes, 300 * MIB);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(memory_needed_of(&others[i]).unmapped_bytes, 0);
}

static void a_reading_that_covers_what_was_missed_makes_up_for_it(void **state)
{
	struct needed_seen seen = { .unread_rss_bytes = 1000 * MIB };

	(void)state;
	needed_record_pss(&seen, 200 * MIB, 800 * MIB, 1);
	assert_int_equal(seen.unread_rss_bytes, 1000 * MIB);
	needed_record_pss(&seen, 150 * MIB, 950 * MIB, 2);
	assert_int_equal(seen.unread_rss_bytes, 0);
	assert_int_equal(seen.pss_bytes, 200 * MIB);
	assert_int_equal(seen.pss_elapsed_ns, 1);
	assert_int_equal(seen.covered_rss_bytes, 950 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_source_is_taken_and_a_bound_is_called_one),
		cmocka_unit_test(files_in_memory_are_named_unless_a_cgroup_has_them),
		cmocka_unit_test(a_reading_that_covers_what_was_missed_makes_up_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

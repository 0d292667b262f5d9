// SPDX-License-Identifier: BSD-2-Clause
/* Why we may not follow processes, by what a /proc of plain files says of us. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/capability.h"
#include "fixture.h"

#include <errno.h>

#define ALL_CAPS "000001ffffffffff"
#define BPF_AND_PERFMON "000000c000000000"
#define BPF_ALONE "0000008000000000"
#define WHOLE "         0          0 4294967295\n"

static int self_make(void **state)
{
	char path[256];

	if (place_make(state))
		return -1;
	snprintf(path, sizeof(path), "%s/self", ((struct place *)*state)->dir);
	return mkdir(path, 0755);
}

static void process(const struct place *p, const char *uid, const char *caps, int seccomp,
		    const char *uid_map)
{
	char path[256], text[512];

	snprintf(path, sizeof(path), "%s/self/status", p->dir);
	snprintf(text, sizeof(text),
		 "Name:\tbpfmon\nUid:\t%s\t%s\t%s\t%s\nCapInh:\t0\nCapEff:\t%s\nSeccomp:\t%d\n"
		 "Seccomp_filters:\t1\n",
		 uid, uid, uid, uid, caps, seccomp);
	file_write(path, text);
	snprintf(path, sizeof(path), "%s/self/uid_map", p->dir);
	file_write(path, uid_map);
}

static void assert_refused(const struct place *p, const char *part)
{
	char why[512] = "";

	assert_int_equal(permission_check(p->dir, why, sizeof(why)), -EPERM);
	if (!strstr(why, part))
		fail_msg("'%s' is not in '%s'", part, why);
}

static void root_and_a_user_with_both_capabilities_may_load(void **state)
{
	const struct place *p = *state;
	char why[512];

	process(p, "0", ALL_CAPS, 0, WHOLE);
	assert_int_equal(permission_check(p->dir, why, sizeof(why)), 0);
	assert_null(permission_hint(p->dir));
	process(p, "1000", BPF_AND_PERFMON, 0, WHOLE);
	assert_int_equal(permission_check(p->dir, why, sizeof(why)), 0);
}

static void the_hint_for_a_user_is_sudo(void **state)
{
	process(*state, "1000", "0", 0, WHOLE);
	assert_refused(*state, "try sudo");
	process(*state, "1000", BPF_ALONE, 0, WHOLE);
	assert_refused(*state, "try sudo");
}

static void the_hint_for_root_without_capabilities_is_the_container(void **state)
{
	process(*state, "0", "00000000a80425fb", 2, WHOLE);
	assert_refused(*state, "--privileged");
}

static void root_of_a_user_namespace_is_not_the_machines(void **state)
{
	process(*state, "0", ALL_CAPS, 0, "         0     100000      65536\n");
	assert_refused(*state, "user namespace");
	process(*state, "0", ALL_CAPS, 0, "         0       1000          1\n");
	assert_refused(*state, "user namespace");
}

static void filter_of_a_container_may_be_why(void **state)
{
	const struct place *p = *state;

	process(p, "0", BPF_AND_PERFMON, 2, WHOLE);
	assert_non_null(strstr(permission_hint(p->dir), "seccomp"));
}

#define SELF_TEST(test) cmocka_unit_test_setup_teardown(test, self_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SELF_TEST(root_and_a_user_with_both_capabilities_may_load),
		SELF_TEST(the_hint_for_a_user_is_sudo),
		SELF_TEST(the_hint_for_root_without_capabilities_is_the_container),
		SELF_TEST(root_of_a_user_namespace_is_not_the_machines),
		SELF_TEST(filter_of_a_container_may_be_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

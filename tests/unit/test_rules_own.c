// SPDX-License-Identifier: BSD-2-Clause
/* Names of jobs, long and deep paths, rules of the configuration, the document of the others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/rules.h"
#include "fixture.h"
#include "rules_fixture.h"

#include <errno.h>
#include <stdlib.h>

static void assert_name(const char *path, const char *name)
{
	struct agent_config c = { 0 };
	struct rules *rules = rules_of(&c);
	struct rules_job jobs[RULES_JOBS];
	size_t nr = rules_find(rules, path, jobs);

	assert_true(nr > 0);
	assert_string_equal(jobs[nr - 1].name, name);
	rules_close(rules);
}

static void names_are_for_people(void **state)
{
	(void)state;
	assert_name("/system.slice/nginx.service", "nginx.service");
	assert_name("/system.slice/systemd-fsck@dev-disk-by\\x2duuid-1.service",
		    "systemd-fsck@dev-disk-by-uuid-1.service");
	assert_name("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "qemu-1-vm");
	assert_name("/slurm/uid_1000/job_815", "815");
	assert_name("/slurm/uid_1000/job_815/step_0", "815.0");
	assert_name(U "/session-3.scope", "3");
	assert_name("/docker/" H1, "8a5f2c1e9b3d");
	assert_name("/system.slice/docker-" H1 ".scope/docker/" H2, "0123456789ab");
	assert_name("/kubepods/pod" POD, POD);
	assert_name(M "/app-caf\xc3\xa9.service", "app-caf\xc3\xa9.service");
	/* no escape becomes a character that steers a terminal */
	assert_name(M "/a\\x1b[2J.service", "a\\x1b[2J.service");
	assert_name(M "/a\x1b[2J.service", "a\\x1b[2J.service");
	assert_name(M "/a\\x2.service", "a\\x2.service");
}

static void a_job_whose_id_does_not_fit_is_left_to_the_one_around_it(void **state)
{
	struct agent_config c = { 0 };
	struct rules *rules = rules_of(&c);
	struct rules_job jobs[RULES_JOBS];
	char path[1024] = M "/", name[256];

	(void)state;
	memset(name, 1, 247);
	strcpy(name + 247, ".service");
	strcat(path, name);
	assert_int_equal(rules_find(rules, path, jobs), 2);
	memset(name, 'a', 247);
	strcpy(path + strlen(M "/"), name);
	assert_int_equal(rules_find(rules, path, jobs), 3);
	assert_int_equal(strlen(jobs[2].name), 255);
	rules_close(rules);
}

static void deep_paths_and_many_containers_are_bounded(void **state)
{
	struct agent_config c = { 0 };
	struct rules *rules = rules_of(&c);
	struct rules_job jobs[RULES_JOBS];
	char path[4096] = "";

	(void)state;
	for (size_t i = 0; i < 12; i++)
		strcat(path, "/docker/" H1);
	/* the ids of those further in would not fit */
	assert_int_equal(rules_find(rules, path, jobs), 7);
	*path = '\0';
	for (size_t i = 0; i < 500; i++)
		strcat(path, "/a.slice");
	strcat(path, "/a.service");
	assert_int_equal(rules_find(rules, path, jobs), 0);
	rules_close(rules);
}

static char *files[] = { (char *)"a.conf" };

static void own_rules_come_first(void **state)
{
	static struct config_rule own[] = {
		{ "builds", "build", "/builds/u{uid:number}/{build}", 3, 0 },
		{ "one", "batch", "/night", 6, 0 },
		{ "quiet", "none", "/system.slice/cron.service", 9, 0 },
		{ "web", "web", "/system.slice/nginx.service", 12, 0 },
		{ "deep", "team", "/teams.slice/**.slice/{team:slice}/{n:hex}-*", 15, 0 },
	};
	static const struct known known[] = {
		{ "/builds/u1000/kernel/make", "build/1000/kernel@3:1000" },
		{ "/builds/u1000", "" },
		{ "/night", "batch/one@1" },
		{ "/night/shift", "batch/one@1" },
		{ "/system.slice/cron.service", "" },
		{ "/system.slice/nginx.service", "web/web@2" },
		{ "/system.slice/ssh.service", "service/ssh.service@2" },
		{ "/teams.slice/teams-a.slice/0f-x", "team/teams-a.slice/0f@3" },
		{ "/teams.slice/teams-a.slice/teams-a-b.slice/0f-x/y",
		  "team/teams-a-b.slice/0f@4" },
		{ "/teams.slice/0f-x", "" },
	};
	struct agent_config c = { .files = files, .nr_files = 1, .rules = own, .nr_rules = 5 };
	struct rules *rules = rules_of(&c);

	(void)state;
	assert_jobs(rules, known, sizeof(known) / sizeof(*known));
	rules_close(rules);
}

static void assert_refused(const char *pattern, const char *reason)
{
	struct config_rule own = { "r", "k", "", 7, 0 };
	struct agent_config c = { .files = files, .nr_files = 1, .rules = &own, .nr_rules = 1 };
	struct rules *rules;
	char why[CONFIG_WHY_BYTES] = "", expected[CONFIG_WHY_BYTES];

	snprintf(own.pattern, sizeof(own.pattern), "%s", pattern);
	assert_int_equal(rules_open(&c, &rules, why, sizeof(why)), -EINVAL);
	assert_null(rules);
	snprintf(expected, sizeof(expected), "a.conf:7: pattern = %s of [rule r]: %s", pattern,
		 reason);
	assert_string_equal(why, expected);
}

static void a_wrong_pattern_is_refused_with_its_line(void **state)
{
	(void)state;
	assert_refused("builds", "expected / at the beginning");
	assert_refused("/", "empty component between two / or at the end");
	assert_refused("/a/", "empty component between two / or at the end");
	assert_refused("/a//b", "empty component between two / or at the end");
	assert_refused("/{}", "expected a name of letters, digits and _ after {");
	assert_refused("/{a", "expected {NAME} or {NAME:CLASS}");
	assert_refused("/a}", "} without {");
	assert_refused("/{a:float}", "unknown class; classes are text, number, hex, hash, uuid, "
				     "service, scope, slice and unit");
	assert_refused("/{a}{b}", "no text between two of {} or *");
	assert_refused("/{a}*", "no text between two of {} or *");
	assert_refused("/{a}/{a}", "duplicate name of a part");
	assert_refused("/x{a:service}",
		       "a service, scope, slice or unit must be a whole component");
	assert_refused("/*-*-*", "more than two * or {NAME} in one component");
	assert_refused("/**.slice",
		       "** must be followed by a suffix and another component, as in **.slice/");
	assert_refused("/**.slice/**.slice/a", "more than one **");
	assert_refused("/**/a",
		       "** must be followed by a suffix and another component, as in **.slice/");
	assert_refused("/{a}/{b}/{c}/{d}/{e}/{f}/{g}", "more than 6 parts in {}");
	assert_refused("/a{uid}", "the part uid must be a number: {uid:number}");
	assert_refused("/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "too many parts");
}

static void the_table_has_each_rule_with_its_id(void **state)
{
	char *table, line[512];
	size_t length, nr = 0;
	FILE *f = open_memstream(&table, &length);

	(void)state;
	assert_non_null(f);
	rules_print_table(f);
	fclose(f);
	f = fmemopen(table, length, "r");
	assert_non_null(f);
	assert_true(fgets(line, sizeof(line), f) && !strncmp(line, "KIND ", 5));
	while (fgets(line, sizeof(line), f)) {
		char kind[32] = "", pattern[256] = "", id[256] = "", expected[256] = "";

		assert_in_range(sscanf(line, "%31s %255s %255s", kind, pattern, id), 2, 3);
		assert_string_equal(kind, rule_rows[nr].kind);
		assert_string_equal(pattern, rule_rows[nr].pattern);
		if (*rule_rows[nr].id)
			snprintf(expected, sizeof(expected), "%s/%s", kind, rule_rows[nr].id);
		assert_string_equal(id, expected);
		nr++;
	}
	assert_int_equal(nr, nr_rule_rows);
	fclose(f);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_for_people),
		cmocka_unit_test(a_job_whose_id_does_not_fit_is_left_to_the_one_around_it),
		cmocka_unit_test(deep_paths_and_many_containers_are_bounded),
		cmocka_unit_test(own_rules_come_first),
		cmocka_unit_test(a_wrong_pattern_is_refused_with_its_line),
		cmocka_unit_test(the_table_has_each_rule_with_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The configuration of the agent: defaults, values, and what is refused with its line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/table.h"
#include "config_fixture.h"
#include "golden.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdlib.h>

static void without_keys_there_are_the_defaults(void **state)
{
	const struct sockaddr_in *in = (const void *)&config.listen.address;

	(void)state;
	assert_read("# nothing\n\n; at all\n");
	assert_string_equal(config.socket, "/run/bpfmon/agent.sock");
	assert_int_equal(config.interval_ns, 1000000000);
	assert_int_equal(config.admin_group.gid, CONFIG_NO_GROUP);
	assert_int_equal(config.user_group.gid, CONFIG_NO_GROUP);
	assert_string_equal(config.hierarchy, "auto");
	assert_int_equal(config.max_tasks, 0);
	assert_int_equal(config.clients, 256);
	assert_int_equal(config.jobs_per_user, 64);
	assert_int_equal(config.requests_per_second, 50);
	assert_int_equal(config.queue_bytes, 4 << 20);
	assert_int_equal(config.user_bytes, 32 << 20);
	assert_int_equal(config.min_interval_ns, 50000000);
	assert_true(config.pss);
	assert_string_equal(config.store, "");
	assert_int_equal(config.keep_days, 30);
	assert_int_equal(config.keep_bytes, 1 << 30);
	assert_int_equal(config.min_ns, 0);
	assert_true(config.listen.is_loopback);
	assert_int_equal(in->sin_port, htons(9433));
	assert_int_equal(in->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(config.series, 1000);
	assert_int_equal(config.keep_ns, 300000000000);
	assert_string_equal(config.password_file, "");
	assert_string_equal(config.url, "");
	assert_string_equal(config.dialect, "auto");
	assert_string_equal(config.metrics, "core");
	assert_string_equal(config.instance, "");
	assert_string_equal(config.tags, "");
	assert_int_equal(config.push_interval_ns, 15000000000);
	assert_int_equal(config.push_min_ns, 15000000000);
	assert_int_equal(config.push_series, 1000);
	assert_string_equal(config.spool_folder, "/var/lib/bpfmon-push");
	assert_int_equal(config.spool_bytes, 256 << 20);
	assert_int_equal(config.catch_up, 4);
	assert_int_equal(config.nr_rules, 0);
}

/* Each key that was read has a bit of its own in a word. */
static void no_key_lacks_a_bit(void **state)
{
	(void)state;
	assert_true(nr_config_rows <= 64);
}

static void the_packaged_sample_sets_the_store_alone(void **state)
{
	char *text;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	(void)state;
	assert_non_null(f);
	config_print_sample(f);
	assert_int_equal(fclose(f), 0);
	assert_golden_text("../../../docs/agent.conf", text);
	assert_read(text);
	assert_string_equal(config.store, "/var/lib/bpfmon/node.db");
	assert_int_equal(config.interval_ns, 1000000000);
	assert_int_equal(config.nr_rules, 0);
	for (size_t i = 0; i < nr_config_rows; i++)
		assert_non_null(strstr(text, config_rows[i].help));
	free(text);
}

/* The sample with all comments removed from keys is a valid file, too, with the same values. */
static void every_default_of_the_sample_can_be_read_back(void **state)
{
	char *text, *at;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	(void)state;
	assert_non_null(f);
	config_print_sample(f);
	fclose(f);
	for (at = text; (at = strstr(at, "\n#")); at++)
		if (at[2] != ' ' && at[2] != '\n')
			memmove(at + 1, at + 2, strlen(at + 1));
	assert_read(text);
	free(text);
	assert_int_equal(config.queue_bytes, 4 << 20);
	assert_int_equal(config.nr_rules, 1);
	assert_string_equal(config.rules[0].name, "build");
}

static void values_are_read_with_their_units(void **state)
{
	struct group *group = getgrgid(0);

	(void)state;
	assert_read("[agent]\ninterval=0.25s\r\nhierarchy = cpuacct\nmax_tasks=5000 ; not all\n"
		    "[limits]\nqueue_bytes = 512 K\nmin_interval = 100ms\n"
		    "[leave]\npss = no\n"
		    "[history]\nkeep_bytes=1.5G\nmin_seconds = 90\nstore=/a b/c.db\n"
		    "[agent]\nsocket = /run/x.sock\n"
		    "[exporter]\nlisten =\nkeep = 2h\n");
	assert_int_equal(config.interval_ns, 250000000);
	assert_string_equal(config.hierarchy, "cpuacct");
	assert_int_equal(config.max_tasks, 5000);
	assert_int_equal(config.queue_bytes, 512 << 10);
	assert_int_equal(config.min_interval_ns, 100000000);
	assert_false(config.pss);
	assert_int_equal(config.keep_bytes, 3ULL << 29);
	assert_int_equal(config.min_ns, 90000000000);
	assert_string_equal(config.store, "/a b/c.db");
	assert_string_equal(config.socket, "/run/x.sock");
	assert_int_equal(config.listen.bytes, 0);
	assert_int_equal(config.keep_ns, 7200000000000);
	if (group) {
		char text[128];

		snprintf(text, sizeof(text), "[agent]\nadmin_group = %s\n", group->gr_name);
		assert_read(text);
		assert_int_equal(config.admin_group.gid, 0);
		assert_string_equal(config.admin_group.name, group->gr_name);
	}
}

static void a_group_of_administrators_may_be_missing_and_one_of_users_not(void **state)
{
	(void)state;
	assert_read("[agent]\nadmin_group = bpfmon-no-such-group\n");
	assert_int_equal(config.admin_group.gid, CONFIG_NO_GROUP);
	assert_string_equal(config.admin_group.name, "bpfmon-no-such-group");
	assert_refused(
		"[agent]\nuser_group = bpfmon-no-such-group\n",
		"a.conf:2: user_group = bpfmon-no-such-group: expected the name of a group of "
		"this machine, or nothing");
}

static void rules_are_in_the_order_of_the_file(void **state)
{
	(void)state;
	assert_read("[rule b]\nkind = build\npattern = /builds/{build}\n[agent]\ninterval=2\n"
		    "[rule a.1]\npattern=/x=y/{n:number}\nkind=other\n");
	assert_int_equal(config.nr_rules, 2);
	assert_string_equal(config.rules[0].name, "b");
	assert_string_equal(config.rules[0].kind, "build");
	assert_string_equal(config.rules[0].pattern, "/builds/{build}");
	assert_int_equal(config.rules[0].line, 1);
	assert_string_equal(config.rules[1].name, "a.1");
	assert_string_equal(config.rules[1].pattern, "/x=y/{n:number}");
	assert_int_equal(config.rules[1].line, 6);
	config_done(&config);
	assert_null(config.rules);
}

static void a_wrong_value_is_refused_with_what_is_allowed(void **state)
{
	(void)state;
	assert_refused("\n[agent]\ninterval = 10ms\n",
		       "a.conf:3: interval = 10ms: expected a time, as in 50ms, 1.5s, 5min, 2h or "
		       "1d, from 50ms to 1h");
	assert_refused("[limits]\nclients = 0\n", "a.conf:2: clients = 0: expected a whole "
						  "number, from 1 to 65536");
	assert_refused("[limits]\nclients = 1.5\n", "a.conf:2: clients = 1.5: expected a "
						    "whole number, from 1 to 65536");
	assert_refused("[limits]\nclients = -1\n", "a.conf:2: clients = -1: expected a whole "
						   "number, from 1 to 65536");
	assert_refused(
		"[history]\nkeep_bytes = 1X\n",
		"a.conf:2: keep_bytes = 1X: expected a size, as in 512K, 64M or 1G, from 1M to 1T");
	assert_refused("[leave]\npss = true\n", "a.conf:2: pss = true: expected yes or no");
	assert_refused("[agent]\nsocket =\n", "a.conf:2: socket = : expected an absolute path");
	assert_refused("[history]\nstore = node.db\n", "a.conf:2: store = node.db: expected an "
						       "absolute path, or nothing");
	assert_refused("[agent]\nuser_group = no such group\n",
		       "a.conf:2: user_group = no such group: expected the name of a group "
		       "of this machine, or nothing");
	assert_refused(
		"[agent]\nhierarchy = a/b\n",
		"a.conf:2: hierarchy = a/b: expected auto, unified, or a cgroup v1 controller");
	assert_refused("[agent]\ninterval = 1e0\n",
		       "a.conf:2: interval = 1e0: expected a time, as in 50ms, 1.5s, 5min, 2h or "
		       "1d, from 50ms to 1h");
}

/* Reads one key of [push]. */
static void assert_push_read(const char *key, const char *value, const char *read)
{
	char text[400];

	snprintf(text, sizeof(text), "[push]\n%s = %s\n", key, value);
	assert_read(text);
	assert_string_equal(read, value);
}

static void assert_push_refused(const char *key, const char *value, const char *expected)
{
	char text[400], reason[CONFIG_WHY_BYTES];

	snprintf(text, sizeof(text), "[push]\n%s = %s\n", key, value);
	snprintf(reason, sizeof(reason), "a.conf:2: %s = %s: expected %s", key, value, expected);
	assert_refused(text, reason);
}

static void urls_are_of_the_four_kinds(void **state)
{
	static const char *const good[] = {
		"http://h",
		"http://h:8086",
		"https://h.example.org:8086/write?db=a&rp=b",
		"http://10.0.0.1:8428/",
		"http://[::1]:8086/api/v2/write?org=o&bucket=b",
		"http://h/write?db=a@b",
		"unix:/run/a.sock",
		"unix:/run/a.sock?db=a",
		"udp://h",
		"udp://[::1]:8089",
	};
	static const char *const bad[] = {
		"h:8086",
		"http:/h",
		"http://",
		"https:///write",
		"http://:8086",
		"http://?db=a",
		"http://u:p@h/",
		"http://h/write?db=a&precision=s",
		"http://h/a b",
		"http://h/\"",
		"http://h/\xc3\xa4",
		"ftp://h/",
		"HTTP://h/",
		"unix:a.sock",
		"/run/a.sock",
	};

	(void)state;
	assert_push_read("url", "", config.url);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_push_read("url", good[i], config.url);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_push_refused("url", bad[i],
				    "http://HOST:PORT/PATH, https://HOST/PATH, unix:/SOCKET or "
				    "udp://HOST:PORT, without USER:PASSWORD@ (see token_file) and "
				    "precision=");
}

static void tags_have_keys_of_their_own(void **state)
{
	static const char *const good[] = {
		"cluster=alpha", "cluster=alpha rack=7", "a=1  b=2",     "_x9=/a,b=c",
		"instances=1",   "jo=1 job_=2",          "a=1 ab=2 b=1",
	};
	static const char *const bad[] = {
		"cluster",    "=alpha",    "cluster=", "a=1 b",       "9a=1",   "a-b=1",
		"instance=x", "a=1 job=2", "name=1",   "user=1",      "kind=1", "nested=1",
		"what=1",     "time=1",    "a=1 a=2",  "a=1 b=2 a=1",
	};

	(void)state;
	assert_push_read("tags", "", config.tags);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_push_read("tags", good[i], config.tags);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_push_refused("tags", bad[i],
				    "KEY=VALUE, separated by spaces, with different keys of "
				    "letters, digits and _ other than instance, job, name, user, "
				    "kind, account, partition, nested, what and time");
}

static void words_are_one_of_those_named(void **state)
{
	static const char *const dialects[] = { "auto", "influxdb", "victoriametrics", "otlp" };
	static const char *const metrics[] = { "core", "more", "all" };
	static const char *const bad[] = { "",
					   "or",
					   "aut",
					   "auto,",
					   "auto, influxdb",
					   "core, more",
					   "more or all",
					   "influxdb or",
					   ",",
					   "Auto",
					   "l",
					   "core,",
					   "auto, influxdb, victoriametrics or otlp" };

	(void)state;
	for (size_t i = 0; i < sizeof(dialects) / sizeof(*dialects); i++)
		assert_push_read("dialect", dialects[i], config.dialect);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		assert_push_read("metrics", metrics[i], config.metrics);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_push_refused("dialect", bad[i], "auto, influxdb, victoriametrics or otlp");
		assert_push_refused("metrics", bad[i], "core, more or all");
	}
}

static void numbers_of_push_have_their_limits(void **state)
{
	(void)state;
	assert_read("[push]\ninterval = 1min\nmin_seconds = 0\nseries = 7\nspool = 2G\n"
		    "catch_up = 0\nfolder = /a/b\ninstance = node-1.a\n");
	assert_int_equal(config.push_interval_ns, 60000000000);
	assert_int_equal(config.push_min_ns, 0);
	assert_int_equal(config.push_series, 7);
	assert_int_equal(config.spool_bytes, 2ULL << 30);
	assert_int_equal(config.catch_up, 0);
	assert_string_equal(config.spool_folder, "/a/b");
	assert_string_equal(config.instance, "node-1.a");
	assert_push_refused("interval", "10ms",
			    "a time, as in 50ms, 1.5s, 5min, 2h or 1d, from 1 to 1h");
	assert_push_refused("spool", "1K", "a size, as in 512K, 64M or 1G, from 1M to 1T");
	assert_push_refused("catch_up", "-1", "a whole number, from 0 to 10000");
	assert_push_refused("folder", "", "an absolute path");
	assert_push_refused("folder", "spool", "an absolute path");
	assert_refused("[push]\nurls = x\n", "a.conf:2: [push] has no key urls; did you mean url?");
	assert_refused("[pus]\n", "a.conf:1: unknown section [pus]; did you mean [push]?");
}

static void unknown_and_doubled_keys_are_refused(void **state)
{
	(void)state;
	assert_refused("[agent]\nintervall = 1\n",
		       "a.conf:2: [agent] has no key intervall; did you mean interval?");
	assert_refused("[agents]\n", "a.conf:1: unknown section [agents]; did you mean [agent]?");
	assert_refused("[agent]\nnonsense = 1\n",
		       "a.conf:2: [agent] has no key nonsense; 'bpfmon agent --sample' prints all "
		       "keys");
	assert_refused("[nonsense]\n",
		       "a.conf:1: unknown section [nonsense]; sections are [agent], [limits], "
		       "[leave], [history], [exporter], [push] and [rule NAME]");
	assert_refused("[agent]\ninterval=1\n\n[agent]\ninterval=1\n",
		       "a.conf:5: duplicate key interval in [agent]; remove one of them");
	assert_refused("interval = 1\n", "a.conf:1: key outside a section; add [agent] above it");
	assert_refused("[agent]\ninterval\n", "a.conf:2: expected [SECTION] or KEY = VALUE");
	assert_refused("[agent]\nx ; a=b\n", "a.conf:2: expected [SECTION] or KEY = VALUE");
	assert_refused("[agent\n", "a.conf:1: expected [NAME] with nothing after it");
	assert_refused("[agent] socket=/a\n", "a.conf:1: expected [NAME] with nothing after it");
	assert_refused("[agent]\ninterval=1\n  2\n",
		       "a.conf:3: a key or section must start at the beginning of the line");
	assert_refused("\r\rinterval = 1\n",
		       "a.conf:1: a key or section must start at the beginning of the line");
	assert_refused("[rule a]\nkind=x\n\n[agent]\n",
		       "a.conf:1: [rule a] has no pattern; a rule needs kind and pattern");
	assert_refused("[rule a]\n",
		       "a.conf:1: [rule a] has no kind; a rule needs kind and pattern");
	assert_refused("[rule a]\nkind=x\npattern=/a\n[rule a]\n",
		       "a.conf:4: duplicate [rule a], first defined in line 1; rename one of them");
	assert_refused("[rule a]\nkind=x\nkind=y\n",
		       "a.conf:3: duplicate key kind in [rule a]; remove one of them");
	assert_refused("[rule a]\nid=x\n",
		       "a.conf:2: unknown key id in a rule; a rule has kind and pattern");
	assert_refused("[rule a]\npattern=\n",
		       "a.conf:2: pattern = : expected 1 to 199 characters");
	assert_refused("[rule a]\nkind=a/b\n",
		       "a.conf:2: kind = a/b: expected 1 to 31 letters, digits, dots, - and _");
	assert_refused("[rule a b]\n", "a.conf:1: [rule a b]: the name of a rule must have 1 to 31 "
				       "letters, digits, dots, - and _");
}

static void long_lines_and_bytes_that_are_no_text_are_refused(void **state)
{
	static const char nul[] = "[agent]\ninterval\0=1\n";
	char text[400] = "[history]\nstore = /";

	(void)state;
	memset(text + strlen(text), 'a', 300);
	assert_refused(text, "a.conf:2: the line is too long; the limit is 198 bytes");
	text[10 + 198] = '\0';
	assert_read(text);
	assert_int_equal(strlen(config.store), 198 - strlen("store = "));
	assert_int_equal(bytes_parse(nul, sizeof(nul) - 1), -EINVAL);
	assert_string_equal(why, "a.conf:2: invalid control character 0");
	assert_refused("[agent]\n# \x1b[2J\n", "a.conf:2: invalid control character 27");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, config_release)
	const struct CMUnitTest tests[] = {
		TEST(without_keys_there_are_the_defaults),
		TEST(the_packaged_sample_sets_the_store_alone),
		TEST(every_default_of_the_sample_can_be_read_back),
		TEST(values_are_read_with_their_units),
		TEST(a_group_of_administrators_may_be_missing_and_one_of_users_not),
		TEST(rules_are_in_the_order_of_the_file),
		TEST(no_key_lacks_a_bit),
		TEST(a_wrong_value_is_refused_with_what_is_allowed),
		TEST(urls_are_of_the_four_kinds),
		TEST(tags_have_keys_of_their_own),
		TEST(words_are_one_of_those_named),
		TEST(numbers_of_push_have_their_limits),
		TEST(unknown_and_doubled_keys_are_refused),
		TEST(long_lines_and_bytes_that_are_no_text_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Who may ask the server of bpfmon serve, and which runs a URL may name. */
#include "http/http_request.h"
#include "web/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void tokens_differ_and_only_the_whole_one_is_taken(void **state)
{
	struct guard a = { 0 }, b = { 0 };
	char other[TOKEN_BYTES];

	(void)state;
	assert_int_equal(guard_make_token(&a), 0);
	assert_int_equal(guard_make_token(&b), 0);
	assert_int_equal(strlen(a.token), TOKEN_BYTES - 1);
	assert_string_not_equal(a.token, b.token);
	assert_true(guard_is_token(&a, a.token));
	assert_false(guard_is_token(&a, b.token));
	assert_false(guard_is_token(&a, NULL));
	assert_false(guard_is_token(&a, ""));
	memcpy(other, a.token, sizeof(other));
	other[TOKEN_BYTES - 2] ^= 1;
	assert_false(guard_is_token(&a, other));
	other[TOKEN_BYTES - 2] = '\0';
	assert_false(guard_is_token(&a, other));
}

static void only_names_of_this_server_are_hosts(void **state)
{
	const struct guard g = {
		.port = 8642, .is_localhost = true, .hosts = { "node7" }, .nr_hosts = 1
	};
	const struct guard at_80 = { .port = 80, .is_localhost = true };
	const struct guard elsewhere = { .port = 8642, .address = "127.0.0.5" };
	static const char *const good[] = { "127.0.0.1:8642", "localhost:8642", "LOCALHOST:8642",
					    "[::1]:8642", "node7:8642" };
	static const char *const bad[] = { "",
					   "127.0.0.1",
					   "127.0.0.1:8643",
					   "127.0.0.1:8642.evil.example",
					   "evil.example:8642",
					   "localhost.evil.example:8642",
					   "[::1",
					   "[::1]",
					   "[::1]x:8642",
					   "node7x:8642",
					   ":8642",
					   "localhost:08642" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(guard_knows_host(&g, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(guard_knows_host(&g, bad[i]));
	assert_false(guard_knows_host(&g, NULL));
	assert_true(guard_knows_host(&at_80, "localhost"));
	assert_true(guard_knows_host(&elsewhere, "127.0.0.5:8642"));
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_false(guard_knows_host(&elsewhere, good[i]));
}

static void only_a_path_of_this_server_is_gone_to(void **state)
{
	static const char *const good[] = { "/", "/runs/1", "/runs/node7~:12", "/runs.json" };
	static const char *const bad[] = { "",          "//evil",      "/\t/evil", "/\n/evil",
					   "/\\evil",   "http://evil", "/a\r\nb",  "/%2fevil",
					   "/runs/1?x", "/a b" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(guard_is_own_path(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(guard_is_own_path(bad[i]));
}

static void only_names_and_numbers_are_hosts(void **state)
{
	struct host h;

	(void)state;
	assert_true(host_parse("Node7.example:80", &h) && host_is(&h, "node7.EXAMPLE"));
	assert_string_equal(h.port, "80");
	assert_true(host_is_of(&h, " a  node7.example b") && !host_is_address(&h));
	assert_false(host_is_of(&h, "node7.example.org node7") || host_is_of(&h, ""));
	assert_true(host_parse("[::1]", &h) && host_is_address(&h) && !h.port);
	assert_true(host_parse("10.1.2.3:9", &h) && host_is_address(&h));
	assert_true(host_parse("10.1.2.3.evil", &h) && !host_is_address(&h));
	assert_true(host_parse("[evil]", &h) && !host_is_address(&h));
	assert_false(host_parse("[::1", &h) || host_parse("[::1]x:1", &h) || host_parse(":1", &h));
	assert_false(host_parse("", &h) || host_parse(NULL, &h));
}

static void an_origin_is_that_of_the_host(void **state)
{
	(void)state;
	assert_true(guard_is_own_origin("http://localhost:1", "localhost:1"));
	assert_false(guard_is_own_origin("http://localhost:2", "localhost:1"));
	assert_false(guard_is_own_origin("https://localhost:1", "localhost:1"));
	assert_false(guard_is_own_origin("null", "localhost:1"));
	assert_false(guard_is_own_origin("http://", "localhost:1"));
	assert_false(guard_is_own_origin(NULL, "localhost:1"));
	assert_false(guard_is_own_origin("http://localhost:1", NULL));
}

static void a_url_names_numbers_of_runs_only(void **state)
{
	static const char *const good[] = { "1", "4711", "node7:12", "node7~:12", "a.b-c_d:9" };
	static const char *const bad[] = {
		"",      "0",       "01",    "-1",   "1x",    "align", "../1",
		"a/b:1", "/etc:1",  "~1",    "-f:1", ".:1",   ":1",    "1:",
		"a b:1", "node7:x", "a\n:1", "1;ls", "--x=1", "..:1",  "1234567890123456789"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(run_ref_is_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(run_ref_is_valid(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_differ_and_only_the_whole_one_is_taken),
		cmocka_unit_test(only_names_of_this_server_are_hosts),
		cmocka_unit_test(only_a_path_of_this_server_is_gone_to),
		cmocka_unit_test(only_names_and_numbers_are_hosts),
		cmocka_unit_test(an_origin_is_that_of_the_host),
		cmocka_unit_test(a_url_names_numbers_of_runs_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

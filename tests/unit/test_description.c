// SPDX-License-Identifier: BSD-2-Clause
/* The description of a run: the meta line of what was read is that of what was written; what a
 * hostile client sends is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "request_fixture.h"
#include "run/writer.h"

#include <errno.h>

#define START "{\"kind\":\"description\","

static struct described described;
static struct run came;
static char why[200];

static int read_text(const char *text)
{
	described_done(&described);
	came = (struct run){ 0 };
	return description_read(&described, text, strlen(text), &came, why, sizeof(why));
}

static void assert_refused(const char *text, const char *because)
{
	assert_int_equal(read_text(text), -EBADMSG);
	if (!strstr(why, because))
		fail_msg("'%s' instead of '%s'", why, because);
	described_done(&described);
}

/* What the collector knows by itself. */
static void take_over(struct run *to, const struct run *from)
{
	memcpy(to->id, from->id, sizeof(to->id));
	memcpy(to->kernel, from->kernel, sizeof(to->kernel));
	memcpy(to->unusable, from->unusable, sizeof(to->unusable));
	to->cpus = from->cpus;
	to->memory_bytes = from->memory_bytes;
	to->start_epoch_ns = from->start_epoch_ns;
	to->interval_ns = from->interval_ns;
	to->wanted = from->wanted;
	to->usable = from->usable;
}

/* The meta line of @run, and that of what is read from its description. */
static void assert_same_meta_line(struct run *run)
{
	struct jsonw message = { 0 }, before = { 0 }, after = { 0 };

	description_write(&message, run);
	assert_false(message.failed);
	assert_false(message.lossy);
	assert_int_equal(read_text(message.text), 0);
	take_over(&came, run);
	write_meta(&before, run);
	write_meta(&after, &came);
	assert_string_equal(after.text, before.text);
	described_done(&described);
	jsonw_done(&message);
	jsonw_done(&before);
	jsonw_done(&after);
}

static void meta_line_is_the_same_from_the_other_side(void **state)
{
	struct run run;
	static struct meta meta;

	(void)state;
	fixture_run(&run);
	fixture_findings(&meta);
	run.meta = &meta;
	run.name = "a name";
	run.job = "job.7";
	run.tags[0] = "commit=abc";
	run.tags[1] = "empty=";
	run.nr_tags = 2;
	assert_same_meta_line(&run);
}

static void little_is_as_good_as_much(void **state)
{
	struct run run;
	static const struct meta nothing;

	(void)state;
	fixture_run(&run);
	run.command = NULL;
	assert_same_meta_line(&run);
	run.meta = &nothing;
	assert_same_meta_line(&run);
}

static void bytes_that_are_no_text_are_reported_in_the_meta_line(void **state)
{
	static char *command[] = { "caf\xe9", NULL };
	struct run run;

	(void)state;
	fixture_run(&run);
	run.command = command;
	assert_same_meta_line(&run);
}

static void path_that_fitted_before_its_bytes_became_characters_is_cut(void **state)
{
	struct jsonw message = { 0 };
	struct run run;

	(void)state;
	fixture_run(&run);
	memset(run.cwd, 0xe9, sizeof(run.cwd) - 1);
	run.cwd[0] = '/';
	description_write(&message, &run);
	assert_int_equal(read_text(message.text), 0);
	assert_int_equal(strlen(came.cwd), 1 + (sizeof(run.cwd) - 2) / 3 * 3);
	assert_true(came.is_lossy);
	jsonw_done(&message);
	described_done(&described);
}

static void long_command_arrives_whole(void **state)
{
	static char argument[1 << 20];
	static char *command[] = { "sh", "-c", argument, NULL };
	struct run run;

	(void)state;
	memset(argument, 'x', sizeof(argument) - 1);
	fixture_run(&run);
	run.command = command;
	assert_same_meta_line(&run);
}

static void what_is_no_description_is_refused(void **state)
{
	(void)state;
	assert_refused("", "not a JSON object");
	assert_refused("[]", "not a JSON object");
	assert_refused("{}", "kind");
	assert_refused(START "\"name\":\"a\",\"name\":\"b\"}", "not a JSON object");
	assert_refused(START "\"name\":\"a\\u0000b\"}", "not a JSON object");
	assert_refused(START "\"kernel\":\"Linux\"}", "'kernel' is not known");
	assert_refused(START "\"cpus\":3}", "'cpus' is not known");
	assert_refused(START "\"id\":\"x\"}", "'id' is not known");
}

static void value_of_another_type_is_refused(void **state)
{
	(void)state;
	assert_refused(START "\"name\":1}", "name");
	assert_refused(START "\"user\":null}", "user");
	assert_refused(START "\"uid\":-1}", "uid");
	assert_refused(START "\"uid\":4294967296}", "uid");
	assert_refused(START "\"tags\":{\"a\":\"b\"}}", "tags");
	assert_refused(START "\"tags\":[\"a\"]}", "tags");
	assert_refused(START "\"tags\":[\"=b\"]}", "tags");
	assert_refused(START "\"tags\":[\"a=1\",\"a=2\"]}", "twice");
	assert_refused(START "\"tags\":[1]}", "tags");
	assert_refused(START "\"command\":\"sh\"}", "command");
	assert_refused(START "\"command\":[]}", "command");
	assert_refused(START "\"command\":[\"sh\",null]}", "command");
	assert_refused(START "\"lossy\":\"yes\"}", "lossy");
}

static void finding_of_another_shape_is_refused(void **state)
{
	(void)state;
	assert_refused(START "\"system\":[]}", "must be an object");
	assert_refused(START "\"system\":{\"nodes\":[[0,1]]}}", "nodes");
	assert_refused(START "\"system\":{\"nr_nodes\":1,\"nodes\":[1]}}", "nodes");
	assert_refused(START "\"system\":{\"nr_nodes\":1,\"nodes\":[[-1,1]]}}", "nodes");
	assert_refused(START "\"system\":{\"swap_bytes\":-1}}", "swap_bytes");
	assert_refused(START "\"limits\":{\"values\":[]}}", "values");
	assert_refused(START "\"limits\":{\"values\":{\"rlimit_nofile\":-1}}}", "values");
	assert_refused(START "\"limits\":{\"values\":{\"rlimit_fun\":1}}}", "values");
	assert_refused(START "\"limits\":{\"cpus_allowed\":\"0;1\"}}", "limits");
	assert_refused(START "\"container\":\"docker\"}", "must be an object");
	assert_refused(START "\"container\":{\"engine\":1}}", "engine");
	assert_refused(START "\"variables\":[\"a\"]}", "variables");
	assert_refused(START "\"variables\":{\"A=B\":\"c\"}}", "variables");
	assert_refused(START "\"variables\":{\"\":\"c\"}}", "variables");
	assert_refused(START "\"variables\":{\"A\":1}}", "variables");
	assert_refused(START "\"git\":{\"revision\":\"main\"}}", "revision");
	assert_refused(START "\"git\":{\"revision\":\"" /* upper case */
			     "ABCDEFABCDEFABCDEFABCDEFABCDEFABCDEFABCD\"}}",
		       "revision");
}

/* A message with @n times @part between @head and @tail. */
static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
	char *text = calloc(1, strlen(head) + n * strlen(part) + strlen(tail) + 1), *at = text;

	at = stpcpy(at, head);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, part);
	strcpy(at, tail);
	return text;
}

static void assert_repeated_is_refused(const char *head, const char *part, size_t n,
				       const char *tail, const char *because)
{
	char *text = repeat(head, part, n, tail);

	assert_refused(text, because);
	free(text);
}

static void text_that_is_too_long_is_refused(void **state)
{
	(void)state;
	assert_repeated_is_refused(START "\"cwd\":\"", "/", 4096, "\"}", "cwd");
	assert_repeated_is_refused(START "\"user\":\"", "u", 64, "\"}", "user");
	assert_repeated_is_refused(START "\"host\":\"", "h", 256, "\"}", "host");
	assert_repeated_is_refused(START "\"git\":{\"branch\":\"", "b", 256, "\"}}", "branch");
	assert_repeated_is_refused(START "\"variables\":{\"A\":\"", "v", 257, "\"}}", "variables");
	assert_repeated_is_refused(START "\"variables\":{\"", "N", 64, "\":\"v\"}}", "variables");
}

static void list_that_is_too_long_is_refused(void **state)
{
	(void)state;
	assert_repeated_is_refused(START "\"tags\":[\"a=1\"", ",\"a=1\"", MAX_TAGS, "]}", "tags");
	assert_repeated_is_refused(START "\"system\":{\"nr_nodes\":99,\"nodes\":[[0,1]", ",[0,1]",
				   MAX_NODES, "]}}", "nodes");
}

static void depth_is_bounded(void **state)
{
	(void)state;
	assert_repeated_is_refused(START "\"name\":", "[", 100000, "", "not a JSON object");
}

static void more_variables_than_there_is_room_for_are_refused(void **state)
{
	char text[4096] = START "\"variables\":{\"A\":\"\"";

	(void)state;
	for (size_t i = 0; i < MAX_VARIABLES; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",\"V%zu\":\"\"", i);
	strcat(text, "}}");
	assert_refused(text, "variables");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meta_line_is_the_same_from_the_other_side),
		cmocka_unit_test(little_is_as_good_as_much),
		cmocka_unit_test(bytes_that_are_no_text_are_reported_in_the_meta_line),
		cmocka_unit_test(path_that_fitted_before_its_bytes_became_characters_is_cut),
		cmocka_unit_test(long_command_arrives_whole),
		cmocka_unit_test(what_is_no_description_is_refused),
		cmocka_unit_test(value_of_another_type_is_refused),
		cmocka_unit_test(finding_of_another_shape_is_refused),
		cmocka_unit_test(text_that_is_too_long_is_refused),
		cmocka_unit_test(list_that_is_too_long_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(more_variables_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

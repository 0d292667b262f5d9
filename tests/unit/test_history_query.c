// SPDX-License-Identifier: BSD-2-Clause
/* Queries for the history of a node, and the lists that answer them: what is written is read back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "store/node_store.h"
#include "text/runs_text.h"
#include "run/agent_call.h"

#include <errno.h>

static void query_is_read_back(void **state)
{
	const struct history_query before = { .lines = true,
					      .id = 42,
					      .uuid = "01234567",
					      .name = "a*",
					      .exact_name = "\"\\\n",
					      .job = "slurm/815",
					      .user = "ada",
					      .host = "n?",
					      .command = "cc",
					      .span = "s",
					      .state = 3,
					      .since_ns = 7 };
	struct history_query after;
	struct jsonw j = { 0 };
	char why[200];

	(void)state;
	history_query_write(&j, &before);
	assert_int_equal(history_query_read(&after, j.text, j.used, why, sizeof(why)), 0);
	assert_memory_equal(&after, &before, sizeof(before));
	jsonw_done(&j);
}

static void empty_query_asks_for_all(void **state)
{
	const struct history_query none = { 0 };
	struct history_query q;
	char why[200];

	(void)state;
	assert_int_equal(history_query_read(&q, "{}", 2, why, sizeof(why)), 0);
	assert_memory_equal(&q, &none, sizeof(q));
}

static void what_is_no_query_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{",
		"{\"uid\":0}",
		"{\"is_admin\":true}",
		"{\"id\":-1}",
		"{\"id\":\"1\"}",
		"{\"state\":9}",
		"{\"id\":1,\"id\":2}",
		"{} {}",
	};
	struct history_query q;
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(
			history_query_read(&q, wrong[i], strlen(wrong[i]), why, sizeof(why)),
			-EBADMSG);
}

static void assert_same_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void assert_same_run(const struct stored_run *a, const struct stored_run *b)
{
	assert_int_equal(a->id, b->id);
	assert_same_text(a->uuid, b->uuid);
	assert_same_text(a->name, b->name);
	assert_same_text(a->job, b->job);
	assert_same_text(a->command, b->command);
	assert_same_text(a->user, b->user);
	assert_same_text(a->host, b->host);
	assert_memory_equal(a->tags, b->tags, strlen(b->tags) + 2);
	assert_int_equal(a->start_epoch_ns, b->start_epoch_ns);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->is_complete, b->is_complete);
	assert_int_equal(a->exit_code, b->exit_code);
	assert_int_equal(a->signal, b->signal);
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->cpu_ns, b->cpu_ns);
	assert_int_equal(a->rss_peak_bytes, b->rss_peak_bytes);
	assert_int_equal(a->needed.bytes, b->needed.bytes);
	assert_string_equal(a->needed.witness, b->needed.witness);
	assert_string_equal(a->needed.bound, b->needed.bound);
	assert_int_equal(a->processes, b->processes);
}

static void list_is_read_back(void **state)
{
	static char key[] = "k=v\0\0", none[] = "\0", name[] = "815", id[] = "an-id";
	struct stored_run before[] = {
		{ .id = 9,
		  .uuid = id,
		  .name = name,
		  .job = name,
		  .user = name,
		  .host = name,
		  .tags = key,
		  .start_epoch_ns = START_NS,
		  .state = RUN_FINISHED,
		  .is_complete = true,
		  .signal = 9,
		  .exit_code = -1,
		  .wall_ns = 5,
		  .cpu_ns = 123456789012345,
		  .rss_peak_bytes = 4096,
		  .needed = { .bytes = 8192, .witness = "pss", .bound = "at_most" },
		  .processes = 3 },
		{ .id = 8,
		  .uuid = id,
		  .command = name,
		  .tags = none,
		  .start_epoch_ns = START_NS,
		  .state = RUN_RUNNING,
		  .exit_code = -1,
		  .signal = -1,
		  .wall_ns = -1,
		  .cpu_ns = -1,
		  .rss_peak_bytes = -1,
		  .processes = -1 },
	};
	const struct stored_runs all = { before, 2, 2 };
	static const char *const no_prefix[] = { "" };
	struct stored_runs after = { 0 };
	char *text = NULL, *at;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(runs_json(f, &all, 2, no_prefix), 0);
	fclose(f);
	for (at = text; *at; at = strchr(at, '\n') + 1)
		assert_int_equal(listed_run_append(&after, at, strcspn(at, "\n") + 1), 0);
	assert_int_equal(after.nr, 2);
	assert_same_run(&after.runs[0], &before[0]);
	assert_same_run(&after.runs[1], &before[1]);
	stored_runs_done(&after);
	free(text);
}

static void what_is_no_row_of_a_list_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "[]",
					     "{}",
					     "{\"id\":\"x\",\"run\":\"u\"}",
					     "{\"id\":\"1\",\"run\":\"u\"}",
					     "{\"id\":-1,\"run\":\"u\"}" };
	struct stored_runs all = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(listed_run_append(&all, wrong[i], strlen(wrong[i])), -EBADMSG);
	assert_int_equal(all.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(query_is_read_back),
		cmocka_unit_test(empty_query_asks_for_all),
		cmocka_unit_test(what_is_no_query_is_refused),
		cmocka_unit_test(list_is_read_back),
		cmocka_unit_test(what_is_no_row_of_a_list_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

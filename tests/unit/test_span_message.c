// SPDX-License-Identifier: BSD-2-Clause
/* The message that begins or ends a span, as it is sent and as it is read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span_call.h"
#include "run/span.h"

#include <errno.h>
#include <string.h>

static int text_read(struct span_message *m, const char *text, char *why)
{
	return span_message_read(m, text, strlen(text), why, 128);
}

static void what_is_sent_is_read(void **state)
{
	static const char *const tags[] = { "sample=A7", "x=a=b" };
	struct span_message m;
	struct jsonw j = { 0 };
	char why[128];

	(void)state;
	span_call_write(&j,
			&(struct span_call_words){
				.name = "a\n\"b", .is_end = true, .in_place = true, .pid = 42 },
			tags, 2);
	assert_int_equal(span_message_read(&m, j.text, j.used, why, sizeof(why)), 0);
	assert_true(m.is_end && m.in_place);
	assert_int_equal(m.pid, 42);
	assert_string_equal(m.label.name, "a\n\"b");
	assert_int_equal(m.label.nr_tags, 2);
	assert_string_equal(m.label.tags[0], tags[0]);
	assert_string_equal(m.label.tags[1], tags[1]);
	span_message_done(&m);
	jsonw_done(&j);
}

static void a_name_is_all_that_is_needed(void **state)
{
	struct span_message m;
	char why[128];

	(void)state;
	assert_int_equal(text_read(&m, "{\"name\":\"x\",\"span\":\"begin\"}", why), 0);
	assert_false(m.is_end || m.in_place);
	assert_int_equal(m.pid, 0);
	assert_int_equal(m.label.nr_tags, 0);
	span_message_done(&m);
}

static void what_is_none_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "not a JSON object" },
		{ "[]", "not a JSON object" },
		{ "{\"span\":\"begin\"}", "'name' is missing" },
		{ "{\"name\":\"x\"}", "'span' is neither" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"uid\":0}", "'uid' is not known" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"a\\n\\u001bb\":0}", "'a??b' is not known" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"pid\":-1}", "'pid' is of another type" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"tags\":[]}", "'tags' is not an object" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"tags\":{\"a=\":\"b\"}}", "'tags' is not" },
		{ "{\"span\":\"begin\",\"name\":\"x\",\"tags\":{\"a\":1}}", "'tags' is not" },
	};
	struct span_message m;
	char why[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(text_read(&m, cases[i].text, why), -EBADMSG);
		assert_non_null(strstr(why, cases[i].why));
		assert_null(m.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_is_read),
		cmocka_unit_test(a_name_is_all_that_is_needed),
		cmocka_unit_test(what_is_none_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

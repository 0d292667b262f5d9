// SPDX-License-Identifier: BSD-2-Clause
/* What a template makes of a run, and which templates are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/nearest.h"
#include "run/template.h"

#include <errno.h>
#include <string.h>

/* A run of 3,725.129 s that ended with 3. */
static struct summary ended(void)
{
	struct summary s = {
		.complete = true,
		.has_status = true,
		.exit_code = 3,
		.wall_ns = 3725129000000,
		.samples = 2,
		.has_process_rss_peak = true,
		.process_rss_peak_bytes = 5 << 20,
		.nr_losses = 1,
		.losses = { { "exec_events", 2 } },
	};

	s.total.value[M_user] = 1509999999;
	s.total.value[M_cpu] = 100000000;
	s.total.value[M_read] = 1024;
	metric_put(&s.total.have, M_user);
	metric_put(&s.total.have, M_cpu);
	metric_put(&s.total.have, M_read);
	return s;
}

/* @text of @s and of a command of two words is @is, and a newline. */
static void assert_made(const char *text, const struct summary *s, const char *is)
{
	json_t *command = json_pack("[ss]", "a", "b\nc");
	struct buffer t = { 0 };

	assert_int_equal(template_write(&t, text, s, command), 0);
	assert_int_equal(t.used, strlen(is) + 1);
	assert_memory_equal(t.text, is, strlen(is));
	assert_int_equal(t.text[t.used - 1], '\n');
	buffer_done(&t);
	json_decref(command);
}

static void letters_are_those_of_gnu_time(void **state)
{
	struct summary s = ended();

	(void)state;
	assert_made("%e %E %U %M %I %x %C", &s, "3725.12 1:02:05 1.50 5120 2 3 a b?c");
	assert_made("%P %D%K%W%X%k%p%r%s%t %%", &s, "0% 000000000 %");
	s.wall_ns = 62340000000;
	s.signal = 9;
	assert_made("%E %x", &s, "1:02.34 0");
}

static void what_a_run_lacks_and_what_is_no_letter_have_a_question_mark(void **state)
{
	struct summary s = ended();

	(void)state;
	assert_made("%S %R %q %", &s, "? ? ?q ?");
	s = (struct summary){ .is_attached = true };
	assert_made("%x %M %P {signal} {rss_peak_bytes}", &s, "? ? ?% ? ?");
}

static void keys_are_those_of_the_summary_line(void **state)
{
	struct summary s = ended();

	(void)state;
	assert_made("{wall_seconds} {exit_code} {complete}", &s, "3725.129 3 true");
	assert_made("{cpu_seconds},{losses.exec_events}", &s, "0.1,2");
	assert_made("{losses}", &s, "{\"exec_events\":2}");
	strcpy(s.reason, "a\x1b[31m");
	assert_made("{reason}", &s, "a?[31m");
}

static void escapes_and_other_braces_are_text(void **state)
{
	struct summary s = ended();

	(void)state;
	assert_made("a\\tb\\nc\\\\ \\{x} \\q", &s, "a\tb\nc\\ {x} ?\\q");
	assert_made("{\"wall\":%e} {} { x}", &s, "{\"wall\":3725.12} {} { x}");
}

static void assert_unknown(const char *text, const char *part)
{
	char why[TEMPLATE_WHY_BYTES];

	assert_int_equal(template_check(text, why), -EINVAL);
	if (!strstr(why, part))
		fail_msg("no %s in %s", part, why);
}

static void unknown_keys_are_refused_with_the_nearest(void **state)
{
	char why[TEMPLATE_WHY_BYTES], large[1000] = "{";

	(void)state;
	assert_unknown("%e {compleet}", "there is no key {compleet}; did you mean {complete}?");
	assert_unknown("{self.cpu_second}", "{self.cpu_seconds}?");
	assert_unknown("{cpu_second}", "{cpu_seconds}?");
	assert_unknown("{rss_bytes}", "rss_bytes"); /* a gauge is not in the summary */
	assert_unknown("{wall_seconds.x}", "wall_seconds");
	assert_unknown("{zzzz}", "those of the summary line");
	memset(large + 1, 'a', sizeof(large) - 3);
	large[sizeof(large) - 2] = '}';
	assert_unknown(large, "aaaa");
	assert_int_equal(template_check("{self.collector.rss_bytes} {losses.any} {pushed.marks} "
					"%{ \\{zzzz} {oom.pid} {programs}",
					why),
			 0);
}

static void every_letter_of_gnu_time_is_known(void **state)
{
	static const char all[] = "CDEFIKMOPRSUWXZcekprstwx";

	(void)state;
	for (size_t i = 0; all[i]; i++)
		assert_true(time_letter_is_known(all[i]));
	assert_false(time_letter_is_known('\0'));
	assert_false(time_letter_is_known('q'));
}

static void a_format_is_no_template(void **state)
{
	(void)state;
	assert_true(text_is_template("%e"));
	assert_true(text_is_template("{"));
	assert_false(text_is_template("jsonl"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_those_of_gnu_time),
		cmocka_unit_test(what_a_run_lacks_and_what_is_no_letter_have_a_question_mark),
		cmocka_unit_test(keys_are_those_of_the_summary_line),
		cmocka_unit_test(escapes_and_other_braces_are_text),
		cmocka_unit_test(unknown_keys_are_refused_with_the_nearest),
		cmocka_unit_test(every_letter_of_gnu_time_is_known),
		cmocka_unit_test(a_format_is_no_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

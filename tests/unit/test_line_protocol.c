// SPDX-License-Identifier: BSD-2-Clause
/* Influx line protocol taken apart. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "point_fixture.h"

#include <errno.h>

static void assert_piece(const struct piece *s, const char *text)
{
	assert_int_equal(s->length, strlen(text));
	assert_memory_equal(s->text, text, s->length);
}

static void a_point_has_name_tags_fields_and_time(void **state)
{
	(void)state;
	assert_int_equal(parse("loss,phase=train,gpu=0 value=0.5,step=7i 1763690000000000001"), 1);
	assert_piece(&point.name, "loss");
	assert_int_equal(point.nr_tags, 2);
	assert_piece(&point.tags[0].key, "phase");
	assert_piece(&point.tags[0].value, "train");
	assert_piece(&point.tags[1].key, "gpu");
	assert_int_equal(point.nr_fields, 2);
	assert_true(point.fields[0].number == 0.5);
	assert_int_equal(point.fields[1].type, POINT_INTEGER);
	assert_int_equal(point.fields[1].integer, 7);
	assert_true(point.has_time);
	assert_true(point.time_ns == 1763690000000000001ULL);
}

static void a_time_that_influxdb_would_not_take_is_malformed(void **state)
{
	(void)state;
	assert_int_equal(parse("a b=1 9223372036854774806"), 1);
	assert_true(point.time_ns == POINT_LAST_NS);
	assert_int_equal(parse("a b=1 0"), 1);
	assert_int_equal(parse("a b=1 9223372036854774807"), -EBADMSG);
	assert_int_equal(parse("a b=1 9223372036854775807"), -EBADMSG);
	assert_int_equal(parse("a b=1 18446744073709551621"), -EBADMSG);
	assert_int_equal(parse("a b=1 -1"), -EBADMSG);
	assert_int_equal(parse("a b=1 -9223372036854775807"), -EBADMSG);
}

static void a_point_needs_no_tags_and_no_time(void **state)
{
	(void)state;
	assert_int_equal(parse("loss value=1\n"), 1);
	assert_int_equal(point.nr_tags, 0);
	assert_false(point.has_time);
}

static void escaped_commas_blanks_and_signs_are_part_of_names(void **state)
{
	(void)state;
	assert_int_equal(parse("my\\ loss\\,x,a\\=b=c\\ d\\,e f\\ g\\==\"h\""), 1);
	assert_piece(&point.name, "my loss,x");
	assert_piece(&point.tags[0].key, "a=b");
	assert_piece(&point.tags[0].value, "c d,e");
	assert_piece(&point.fields[0].key, "f g=");
	assert_piece(&point.fields[0].string, "h");
}

static void a_backslash_before_anything_else_is_itself(void **state)
{
	(void)state;
	assert_int_equal(parse("a\\b,c=\\d\\ e=\"\\n\" f=1"), -EBADMSG);
	assert_int_equal(parse("a\\b,c=\\d e=\"\\n\""), 1);
	assert_piece(&point.name, "a\\b");
	assert_piece(&point.tags[0].value, "\\d");
	assert_piece(&point.fields[0].string, "\\n");
}

static void strings_hold_quotes_blanks_signs_and_newlines(void **state)
{
	(void)state;
	assert_int_equal(parse("a b=\"x=1, \\\"y\\\"\\\\\nz\",c=2u 5"), 1);
	assert_piece(&point.fields[0].string, "x=1, \"y\"\\\nz");
	assert_int_equal(point.fields[1].type, POINT_UNSIGNED);
	assert_true(point.time_ns == 5);
}

static void booleans_have_five_spellings_each(void **state)
{
	(void)state;
	assert_int_equal(parse("a b=t,c=T,d=true,e=True,f=TRUE,g=f,h=F,i=false,j=False,k=FALSE"),
			 1);
	assert_int_equal(point.nr_fields, 10);
	assert_int_equal(point.fields[9].type, POINT_BOOLEAN);
	assert_true(point.fields[0].is_true && point.fields[4].is_true);
	assert_false(point.fields[5].is_true || point.fields[9].is_true);
}

static void integers_are_exact_to_their_limits(void **state)
{
	(void)state;
	assert_written("a b=-9223372036854775808i,c=9223372036854775807u",
		       "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":-9223372036854775808,"
		       "\"c\":9223372036854775807},\"pid\":77}\n");
	assert_int_equal(parse("a b=9223372036854775808i"), -EBADMSG);
	assert_int_equal(parse("a b=18446744073709551616u"), -EBADMSG);
	assert_int_equal(parse("a b=-1u"), -EBADMSG);
}

static void malformed_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"a",
		"a ",
		" b=1,",
		",b=1 c=1",
		"a,b c=1",
		"a,b= c=1",
		"a,=1 c=1",
		"a,b=1=2 c=1",
		"a, c=1",
		"a =1",
		"a b=",
		"a b",
		"a b=1,",
		"a b=1 x",
		"a b=1 1.5",
		"a b=1 -5",
		"a b=1 99999999999999999999",
		"a b=1 1 1",
		"a b=nan",
		"a b=inf",
		"a b=1e999",
		"a b=0x10",
		"a b=1.5i",
		"a b=i",
		"a b=yes",
		"a b=\"open",
		"a b=\"x\"y",
		"a,b=1,b=2 c=1",
		"a b=1,b=2",
		"a b=1111111111111111111111111111111111111111111111111111111111111111111111",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (parse(bad[i]) != -EBADMSG)
			fail_msg("'%s' is taken for a point", bad[i]);
}

static void bytes_of_zero_are_refused(void **state)
{
	char text[] = "a\0b c=1", *at = text;

	(void)state;
	assert_int_equal(point_parse(&point, &at, text + sizeof(text) - 1), -EBADMSG);
	assert_ptr_equal(at, text + sizeof(text) - 1);
}

static void more_than_there_is_room_for_is_refused(void **state)
{
	char text[POINT_BYTES + 100] = "a";
	size_t n = 1;

	(void)state;
	for (int i = 0; i <= POINT_TAGS; i++)
		n += (size_t)sprintf(text + n, ",t%d=x", i);
	strcpy(text + n, " b=1");
	assert_int_equal(parse(text), -E2BIG);
	n = (size_t)sprintf(text, "a f=1");
	for (int i = 0; i < POINT_FIELDS; i++)
		n += (size_t)sprintf(text + n, ",f%d=1", i);
	assert_int_equal(parse(text), -E2BIG);
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + sizeof(text) - 8, " b=1\0", 5);
	assert_int_equal(parse(text), -E2BIG);
}

static void each_line_of_a_datagram_is_on_its_own(void **state)
{
	char text[] = "a b=1\r\n\n# note\nbad\nc d=2\n  \n";
	char *at = text, *end = text + strlen(text);
	int found[8], n = 0;

	(void)state;
	assert_int_equal(point_count_lines(text, strlen(text)), 3);
	while (at < end)
		found[n++] = point_parse(&point, &at, end);
	assert_int_equal(n, 6);
	assert_memory_equal(found, ((int[]){ 1, 0, 0, -EBADMSG, 1, 0 }), sizeof(int) * 6);
}

static void the_last_line_needs_no_newline(void **state)
{
	(void)state;
	assert_int_equal(point_count_lines("a b=1\nc d=1", 11), 2);
	assert_int_equal(point_count_lines("", 0), 0);
	assert_int_equal(point_count_lines("\n \n#x\n", 6), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_has_name_tags_fields_and_time),
		cmocka_unit_test(a_time_that_influxdb_would_not_take_is_malformed),
		cmocka_unit_test(a_point_needs_no_tags_and_no_time),
		cmocka_unit_test(escaped_commas_blanks_and_signs_are_part_of_names),
		cmocka_unit_test(a_backslash_before_anything_else_is_itself),
		cmocka_unit_test(strings_hold_quotes_blanks_signs_and_newlines),
		cmocka_unit_test(booleans_have_five_spellings_each),
		cmocka_unit_test(integers_are_exact_to_their_limits),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(bytes_of_zero_are_refused),
		cmocka_unit_test(more_than_there_is_room_for_is_refused),
		cmocka_unit_test(each_line_of_a_datagram_is_on_its_own),
		cmocka_unit_test(the_last_line_needs_no_newline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

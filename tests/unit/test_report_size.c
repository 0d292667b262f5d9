// SPDX-License-Identifier: BSD-2-Clause
/* The size of a page is bounded, whatever the texts of a run are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/excerpt.h"
#include "page/page.h"
#include "report_fixture.h"

#define MAX_PAGE_BYTES 5000000
#define PATH_BYTES 1000

/* @nr times @unit. */
static char *repeated(const char *unit, size_t nr)
{
	size_t length = strlen(unit);
	char *text = malloc(nr * length + 1);

	assert_non_null(text);
	for (size_t i = 0; i < nr; i++)
		memcpy(text + i * length, unit, length);
	text[nr * length] = '\0';
	return text;
}

/* As many as a chart has room for, with numbers as long as after a day. */
static void write_samples(FILE *f)
{
	for (unsigned i = 0; i < 2047; i++)
		fprintf(f,
			"{\"kind\":\"sample\",\"elapsed_seconds\":%u.123456789,\"cores\":63.123,"
			"\"user_seconds\":%u.123456789,\"system_seconds\":%u.123456789,"
			"\"runqueue_wait_seconds\":%u.987654321,\"rss_bytes\":%u12345678,"
			"\"rss_anon_bytes\":%u12345678,\"rss_file_bytes\":%u12345678,"
			"\"rss_shmem_bytes\":%u12345678,\"read_bytes\":%u123456789,"
			"\"write_bytes\":%u123456789,\"rchar_bytes\":%u123456789,"
			"\"wchar_bytes\":%u123456789,\"processes\":10000,\"threads\":99999,"
			"\"minflt\":%u12345,\"majflt\":%u123,\"nvcsw\":%u1234,\"nivcsw\":%u123}\n",
			i * 42, i * 60, i * 50, i, i, i, i, i, i, i, i, i, i, i, i, i);
}

/* Number @i: the texts as JSON has them; a path of its own, which ends in its number. */
static void write_process(FILE *f, unsigned i, const char *comm, const char *path, const char *arg)
{
	fprintf(f,
		"{\"kind\":\"process\",\"pid\":%u,\"ppid\":4194303,\"uid\":4294967295,"
		"\"comm\":\"%s\",\"exe\":\"%s/%05u\",\"args\":[\"%s\"],"
		"\"start_time\":%u.123456,\"end_time\":87401.654321,\"exit_code\":255,"
		"\"threads_total\":1000,\"execs\":100,\"rss_peak_bytes\":123456789012,"
		"\"rss_peak_exact\":false,\"cpu_seconds\":12345.678912345,"
		"\"user_seconds\":12345.678912345,\"system_seconds\":12345.678912345,"
		"\"runqueue_wait_seconds\":1234.678912345,\"minflt\":1234567,\"majflt\":12345,"
		"\"nvcsw\":1234567,\"nivcsw\":123456,\"read_bytes\":12345678901,"
		"\"write_bytes\":12345678901,\"rchar_bytes\":12345678901,"
		"\"wchar_bytes\":12345678901}\n",
		4000000 + i, comm, path, i, arg, 1001 + i);
}

/* Number @i; two have the same name, which begins with their number. */
static void write_span(FILE *f, unsigned i, const char *text)
{
	fprintf(f,
		"{\"kind\":\"span\",\"id\":%u,\"parent\":%u,\"name\":\"%u %s\","
		"\"tags\":{\"a\":\"%s\"},\"pid\":%u,\"start_time\":%u.123456,"
		"\"end_time\":87401.654321,\"exit_code\":255,\"complete\":false,"
		"\"processes_total\":123456,\"cpu_seconds\":12345.678912345,"
		"\"read_bytes\":12345678901,\"write_bytes\":12345678901,"
		"\"rss_peak_bytes\":123456789012,\"rss_peak_upper_bytes\":123456789012}\n",
		i + 1, i / 2, i / 2, text, text, 4000000 + i, 1001 + i);
}

/* A run with as many processes and spans as a page has, with all texts made of @unit. */
static char *run_of(const char *unit, const char *comm)
{
	char *path = repeated(unit, PATH_BYTES / strlen(unit)), *arg = repeated(unit, 250);
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	assert_non_null(f);
	fputs(META, f);
	write_samples(f);
	for (unsigned i = 0; i < PROCESSES_SHOWN; i++)
		write_process(f, i, comm, path, arg);
	for (unsigned i = 0; i < SPANS_SHOWN; i++)
		write_span(f, i, arg);
	fputs(SUMMARY, f);
	fclose(f);
	free(path);
	free(arg);
	return text;
}

static size_t page_size(const json_t *data)
{
	char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(15)), *page = NULL;
	struct page_data d = { .json = { .text = text, .used = text ? strlen(text) : 0 },
			       .parts = ~0u };
	size_t length = 0;
	FILE *f = open_memstream(&page, &length);

	assert_non_null(text);
	assert_non_null(f);
	assert_int_equal(page_write(f, &d), 0);
	fclose(f);
	free(page);
	free(text);
	return length;
}

static json_t *path_of(json_t *data, size_t i)
{
	json_t *paths = json_object_get(json_object_get(data, "processes"), "exes");

	return json_array_get(paths, (size_t)json_integer_value(report_field(data, i, "exe")));
}

static void assert_ends_in_its_number(json_t *data, size_t i)
{
	const char *path = json_string_value(path_of(data, i));
	char number[16];

	assert_non_null(path);
	snprintf(number, sizeof(number), "/%05zu", i);
	assert_string_equal(path + strlen(path) - 6, number);
	assert_memory_equal(path, EXCERPT_NOTE, 3);
}

static void assert_page_is_small(const char *unit, const char *comm)
{
	char *text = run_of(unit, comm);
	json_t *data = report_data(text);

	assert_int_equal(json_array_size(report_processes_rows(data)), PROCESSES_SHOWN);
	assert_int_equal(json_array_size(json_object_get(json_object_get(data, "spans"), "rows")),
			 SPANS_SHOWN);
	assert_in_range(page_size(data), 1000000, MAX_PAGE_BYTES);
	assert_ends_in_its_number(data, 0);
	assert_ends_in_its_number(data, 7654);
	json_decref(data);
	free(text);
}

static void long_paths_make_no_large_page(void **state)
{
	(void)state;
	assert_page_is_small("/directory", "123456789012345");
}

static void escaped_texts_make_no_large_page(void **state)
{
	(void)state;
	assert_page_is_small("\\u0001", "\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001"
					"\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001");
	assert_page_is_small("<", "<<<<<<<<<<<<<<<");
}

static void summary_and_events_are_small_too(void **state)
{
	char *word = repeated("<", 4000), *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *data;

	(void)state;
	assert_non_null(f);
	fputs("{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":1000.5,\"command\":[\"a\"",
	      f);
	for (unsigned i = 0; i < 1000; i++)
		fprintf(f, ",\"%s\"", word);
	fputs("]}\n" SAMPLE(0, "\"threads\":1"), f);
	for (unsigned i = 0; i < 300; i++)
		fprintf(f,
			"{\"kind\":\"event\",\"time\":1001,\"event\":\"mark\",\"text\":\"%s\"}\n",
			word);
	fputs("{\"kind\":\"summary\",\"complete\":true,\"programs\":[{\"exe\":\"a\"}", f);
	for (unsigned i = 0; i < 4000; i++)
		fprintf(f, ",{\"exe\":\"%s/%u\",\"processes\":1}", word, i);
	fputs("]}\n", f);
	fclose(f);
	data = report_data(text);
	assert_in_range(page_size(data), 1, 3 << 20);
	json_decref(data);
	free(text);
	free(word);
}

static void path_of_several_processes_is_written_once(void **state)
{
	json_t *data = report_data(META SAMPLE(
		0,
		"\"threads\":1") "{\"kind\":\"process\",\"pid\":1,\"exe\":\"/bin/sh\"}\n"
				 "{\"kind\":\"process\",\"pid\":2,\"exe\":\"/bin/cp\"}\n"
				 "{\"kind\":\"process\",\"pid\":3}\n"
				 "{\"kind\":\"process\",\"pid\":4,\"exe\":\"/bin/sh\"}\n" SUMMARY);

	(void)state;
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(data, "processes"), "exes")), 2);
	assert_string_equal(json_string_value(path_of(data, 0)), "/bin/sh");
	assert_string_equal(json_string_value(path_of(data, 1)), "/bin/cp");
	assert_true(json_is_null(report_field(data, 2, "exe")));
	assert_string_equal(json_string_value(path_of(data, 3)), "/bin/sh");
	json_decref(data);
}

static void assert_put(const char *text, size_t max, enum excerpt_cut cut, const char *expected)
{
	struct jsonw j = { 0 };

	excerpt_put(&j, text, max, cut);
	assert_string_equal(j.text, expected);
	jsonw_done(&j);
}

static void cut_text_takes_no_more_than_its_limit(void **state)
{
	(void)state;
	assert_int_equal(excerpt_cost("a\"<\x01\xe2\x82\xac"), 1 + 2 + 6 + 6 + 3);
	assert_put("abcdefgh", 8, CUT_END, "\"abcdefgh\"");
	assert_put("abcdefghi", 8, CUT_END, "\"abcde" EXCERPT_NOTE "\"");
	assert_put("abcdefghi", 8, CUT_START, "\"" EXCERPT_NOTE "efghi\"");
	assert_put("abc\x01\x01", 8, CUT_END, "\"abc" EXCERPT_NOTE "\"");
	assert_put("\x01\x01qabc", 8, CUT_START, "\"" EXCERPT_NOTE "qabc\"");
	assert_put("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 8, CUT_START,
		   "\"" EXCERPT_NOTE "\xe2\x82\xac\"");
}

static void end_of_a_path_is_what_is_kept(void **state)
{
	char *whole = excerpt_keep_end("/bin/sh", 7),
	     *cut = excerpt_keep_end("/\xe2\x82\xac/bin/sh", 9);

	(void)state;
	assert_string_equal(whole, "/bin/sh");
	assert_string_equal(cut, EXCERPT_NOTE "bin/sh");
	free(whole);
	free(cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_paths_make_no_large_page),
		cmocka_unit_test(escaped_texts_make_no_large_page),
		cmocka_unit_test(summary_and_events_are_small_too),
		cmocka_unit_test(path_of_several_processes_is_written_once),
		cmocka_unit_test(cut_text_takes_no_more_than_its_limit),
		cmocka_unit_test(end_of_a_path_is_what_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

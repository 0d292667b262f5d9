// SPDX-License-Identifier: BSD-2-Clause
/* The page: no hostile text of a run closes an element, and long texts are cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/excerpt.h"
#include "page/page.h"
#include "report_fixture.h"

static char *page_made(struct page_data *data)
{
	size_t length;
	char *page = NULL;
	FILE *f = open_memstream(&page, &length);

	if (!f)
		abort();
	assert_int_equal(page_write(f, data), 0);
	fclose(f);
	jsonw_done(&data->json);
	return page;
}

static char *page_of(const char *text)
{
	struct page_data d = { 0 };

	jsonw_object(&d.json, NULL);
	jsonw_string(&d.json, "text", text);
	jsonw_object_end(&d.json);
	return page_made(&d);
}

static size_t count_of(const char *page, const char *word)
{
	size_t n = 0;

	for (const char *at = page; (at = strstr(at, word)); at++)
		n++;
	return n;
}

static void no_text_in_the_data_closes_its_element(void **state)
{
	char *plain = page_of("x"), *page = page_of("</script><script>alert(1)</SCRIPT><!--");

	(void)state;
	assert_int_equal(count_of(page, "</script>"), count_of(plain, "</script>"));
	assert_int_equal(count_of(page, "<script"), count_of(plain, "<script"));
	assert_null(strstr(page, "</SCRIPT>"));
	assert_non_null(strstr(page, "\\u003c/script>\\u003cscript>alert(1)\\u003c/SCRIPT>"));
	assert_non_null(strstr(page, "\\u003c!--"));
	free(plain);
	free(page);
}

static void page_loads_nothing_and_has_a_policy(void **state)
{
	char *page = page_of("x");

	(void)state;
	assert_non_null(strstr(page, "default-src 'none'; script-src 'nonce-"));
	assert_null(strstr(page, "unsafe-"));
	assert_null(strstr(page, " src="));
	assert_null(strstr(page, "href=\"http"));
	assert_null(strstr(page, "innerHTML"));
	assert_null(strstr(page, "url("));
	free(page);
}

static void each_page_has_a_nonce_of_its_own(void **state)
{
	char *one = page_of("x"), *other = page_of("x");

	(void)state;
	assert_string_not_equal(strstr(one, "nonce="), strstr(other, "nonce="));
	free(one);
	free(other);
}

static void page_contains_the_licence_of_uplot(void **state)
{
	char *page = page_of("x");

	(void)state;
	assert_non_null(strstr(page, "Leon Sorokin"));
	free(page);
}

static void page_has_no_comments_and_no_indentation(void **state)
{
	char *page = page_of("x"), *scripts = strstr(page, "<script nonce");

	(void)state;
	assert_non_null(strstr(page, "/*! https://github.com/leeoniya/uPlot"));
	assert_int_equal(count_of(page, "\n\t"), 0);
	assert_int_equal(count_of(scripts, "\n//"), 0);
	assert_int_equal(count_of(scripts, "\n * "), 0);
	free(page);
}

/* What a page has for a part. Of a script a text: names are shortened. */
static const struct {
	enum page_part part;
	const char *section, *script;
} parts[] = {
	{ PAGE_PHASES, "<section id=\"phases\"", "Phases: what was used between marks" },
	{ PAGE_EVENTS, "<section id=\"events\"", "Only the first of these are listed: " },
	{ PAGE_HELD, NULL, "Memory stacked" },
	{ PAGE_PUSHED, "<section id=\"pushed\"", "Texts are not drawn: " },
	{ PAGE_SPANS, "<section id=\"spans\"", "Spans, one a row" },
	{ PAGE_SPANS, "id=\"span-place\"", "said quiet" },
	{ PAGE_HOLDERS, "<section id=\"holders\"", "Holders of the exact peak" },
	{ PAGE_INSTANCES, "<section id=\"instances\"", "Values by ${" },
	{ PAGE_TIMELINE, "<section id=\"timeline\"", "failed or killed" },
	{ PAGE_TIMELINE, NULL, "said quiet" },
	{ PAGE_GPUS, NULL, "Peak GPU memory" },
};

static void what_is_for_data_that_a_run_lacks_is_not_in_its_page(void **state)
{
	char *plain = page_of("a text");

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct page_data d = { .parts = parts[i].part };
		char *page;

		jsonw_object(&d.json, NULL);
		jsonw_object_end(&d.json);
		page = page_made(&d);
		assert_non_null(strstr(page, parts[i].script));
		assert_null(strstr(plain, parts[i].script));
		assert_true(!parts[i].section || strstr(page, parts[i].section));
		assert_true(!parts[i].section || !strstr(plain, parts[i].section));
		free(page);
	}
	free(plain);
}

#define PROCESS(pid)                                                                               \
	"{\"kind\":\"process\",\"pid\":" #pid ",\"comm\":\"a\",\"start_time\":1001,"               \
	"\"end_time\":1002,\"exit_code\":0}\n"
#define SAMPLE_OF_A                                                                                \
	"{\"kind\":\"process_sample\",\"elapsed_seconds\":1,\"pid\":7,\"start_time\":1001,"        \
	"\"comm\":\"a\",\"rss_bytes\":4096}\n"

static void the_parts_of_a_page_are_those_that_its_data_have(void **state)
{
	static const struct {
		const char *lines;
		unsigned parts;
	} runs[] = {
		{ SUMMARY, 0 },
		{ "{\"kind\":\"event\",\"event\":\"\\\"spans\\\":{\",\"time\":1001}\n" SUMMARY,
		  PAGE_EVENTS },
		{ "{\"kind\":\"event\",\"event\":\"mark\",\"time\":1001,\"text\":\"x\"}\n" SUMMARY,
		  PAGE_EVENTS | PAGE_PHASES },
		{ PROCESS(7) SUMMARY, 0 },
		{ PROCESS(7) PROCESS(8) SUMMARY, PAGE_TIMELINE },
		{ SAMPLE_OF_A SUMMARY, PAGE_HELD },
		{ "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\",\"tags\":{},"
		  "\"fields\":{\"v\":1}}"
		  "\n" SUMMARY,
		  PAGE_PUSHED },
		{ "{\"kind\":\"span\",\"id\":1,\"name\":\"x\",\"pid\":7,\"start_time\":1001,"
		  "\"end_time\":1002,\"complete\":true}\n" SUMMARY,
		  PAGE_SPANS },
		{ "{\"kind\":\"summary\",\"wall_seconds\":2,\"rss_peak_holders\":[{\"pid\":7}]}\n",
		  PAGE_HOLDERS },
		{ "{\"kind\":\"summary\",\"wall_seconds\":2,\"by\":{\"device\":{\"a\":{}}}}\n",
		  PAGE_INSTANCES },
		{ "{\"kind\":\"summary\",\"wall_seconds\":2,\"gpus_held_peak\":1}\n", PAGE_GPUS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		assert_int_equal(report_parts(runs[i].lines), runs[i].parts);
}

static void text_is_cut_between_characters(void **state)
{
	(void)state;
	assert_int_equal(excerpt_length("abc", 3, 3), 3);
	assert_int_equal(excerpt_length("abc", 3, 2), 2);
	assert_int_equal(excerpt_length("a\xe2\x82\xac", 4, 3), 1);
	assert_int_equal(excerpt_length("\xe2\x82\xac", 3, 0), 0);
}

static void argument_of_100_kilobytes_is_cut_and_marked(void **state)
{
	const size_t length = 5 + 100001; /* "echo", NUL, the other, NUL */
	char *args = calloc(1, length), *text;

	(void)state;
	assert_non_null(args);
	memcpy(args, "echo", 4);
	memset(args + 5, 'A', 100000);
	text = excerpt_join(args, length, false, 300);
	assert_in_range(strlen(text), 290, 300);
	assert_string_equal(text + strlen(text) - 3, EXCERPT_NOTE);
	free(text);
	free(args);
}

static void arguments_that_were_cut_before_are_marked_too(void **state)
{
	char *text = excerpt_join("a\0b", 4, true, 300);

	(void)state;
	assert_string_equal(text, "a b" EXCERPT_NOTE);
	free(text);
}

static void quotes_are_quoted_as_for_a_shell(void **state)
{
	char *text = excerpt_join("it's", 5, false, 300);

	(void)state;
	assert_string_equal(text, "'it'\\''s'");
	free(text);
}

static void long_texts_and_lists_are_cut(void **state)
{
	json_t *v = json_loads("{\"a\":\"12345678\",\"b\":[\"x\",\"y\",\"z\"],\"c\":1.5,\"d\":null,"
			       "\"e\":true,\"f\":-3}",
			       0, NULL);
	struct jsonw j = { 0 };

	(void)state;
	excerpt_write(&j, NULL, v, 4, 2);
	assert_string_equal(j.text,
			    "{\"a\":\"1234" EXCERPT_NOTE "\",\"b\":[\"x\",\"y\",\"" EXCERPT_NOTE
			    "\"],\"c\":1.5,\"d\":null,\"e\":true,\"f\":-3}");
	jsonw_done(&j);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_in_the_data_closes_its_element),
		cmocka_unit_test(page_loads_nothing_and_has_a_policy),
		cmocka_unit_test(each_page_has_a_nonce_of_its_own),
		cmocka_unit_test(page_contains_the_licence_of_uplot),
		cmocka_unit_test(page_has_no_comments_and_no_indentation),
		cmocka_unit_test(what_is_for_data_that_a_run_lacks_is_not_in_its_page),
		cmocka_unit_test(the_parts_of_a_page_are_those_that_its_data_have),
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(argument_of_100_kilobytes_is_cut_and_marked),
		cmocka_unit_test(arguments_that_were_cut_before_are_marked_too),
		cmocka_unit_test(quotes_are_quoted_as_for_a_shell),
		cmocka_unit_test(long_texts_and_lists_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* What each answer of a server means for the lines that were sent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "push/reply.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define NOW_S 1445412400 /* 80 s before Wed, 21 Oct 2015 07:28:00 GMT */

static struct answer answer_of(long status, const char *text, const char *retry_after)
{
	const struct reply r = {
		.status = status, .text = text, .length = strlen(text), .retry_after = retry_after
	};
	struct answer a;

	answer_read(&a, &r, NOW_S);
	return a;
}

static void the_status_decides(void **state)
{
	static const struct {
		long status;
		enum answer_kind kind;
	} answers[] = {
		{ 100, ANSWER_MISCONFIGURED }, { 200, ANSWER_ACCEPTED },
		{ 204, ANSWER_ACCEPTED },      { 299, ANSWER_ACCEPTED },
		{ 301, ANSWER_MISCONFIGURED }, { 302, ANSWER_MISCONFIGURED },
		{ 307, ANSWER_MISCONFIGURED }, { 400, ANSWER_DIVIDE },
		{ 401, ANSWER_MISCONFIGURED }, { 403, ANSWER_MISCONFIGURED },
		{ 404, ANSWER_MISCONFIGURED }, { 405, ANSWER_MISCONFIGURED },
		{ 408, ANSWER_LATER },         { 413, ANSWER_TOO_LARGE },
		{ 415, ANSWER_MISCONFIGURED }, { 422, ANSWER_PARTLY },
		{ 425, ANSWER_LATER },         { 429, ANSWER_LATER },
		{ 500, ANSWER_LATER },         { 502, ANSWER_LATER },
		{ 503, ANSWER_LATER },         { 504, ANSWER_LATER },
		{ 599, ANSWER_LATER },         { 999, ANSWER_LATER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct answer a = answer_of(answers[i].status, "text", "");
		char why[64];

		assert_int_equal(a.kind, answers[i].kind);
		assert_int_equal(a.refused, a.kind == ANSWER_PARTLY);
		assert_int_equal(a.wait_ns, 0);
		snprintf(why, sizeof(why), "HTTP status %ld: text", answers[i].status);
		assert_string_equal(a.why, a.kind == ANSWER_ACCEPTED ? "" : why);
	}
}

static void without_an_answer_it_is_sent_later_unless_it_never_can_be(void **state)
{
	static const struct {
		CURLcode failure;
		enum answer_kind kind;
	} failures[] = {
		{ CURLE_COULDNT_CONNECT, ANSWER_LATER },
		{ CURLE_COULDNT_RESOLVE_HOST, ANSWER_LATER },
		{ CURLE_OPERATION_TIMEDOUT, ANSWER_LATER },
		{ CURLE_GOT_NOTHING, ANSWER_LATER },
		{ CURLE_RECV_ERROR, ANSWER_LATER },
		{ CURLE_SSL_CONNECT_ERROR, ANSWER_LATER },
		{ CURLE_PEER_FAILED_VERIFICATION, ANSWER_MISCONFIGURED },
		{ CURLE_SSL_CACERT_BADFILE, ANSWER_MISCONFIGURED },
		{ CURLE_URL_MALFORMAT, ANSWER_MISCONFIGURED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		const struct reply r = { .failure = (int)failures[i].failure,
					 .text = "",
					 .retry_after = "" };
		struct answer a;

		answer_read(&a, &r, NOW_S);
		assert_int_equal(a.kind, failures[i].kind);
		assert_string_equal(a.why, curl_easy_strerror(failures[i].failure));
	}
}

static void the_status_counts_even_if_the_body_broke_off(void **state)
{
	const struct reply r = {
		.status = 204, .failure = CURLE_PARTIAL_FILE, .text = "", .retry_after = ""
	};
	struct answer a;

	(void)state;
	answer_read(&a, &r, NOW_S);
	assert_int_equal(a.kind, ANSWER_ACCEPTED);
}

static void lines_of_a_partial_write_are_counted_as_the_server_says(void **state)
{
	static const struct {
		const char *text;
		uint64_t refused;
	} replies[] = {
		{ "{\"error\":\"partial write: points beyond retention policy dropped=3\"}", 3 },
		{ "{\"error\":\"partial write: field type conflict: input field \\\"a\\\" "
		  "dropped=17\"}",
		  17 },
		{ "{\"error\":\"partial write: unable to parse 'x': invalid\"}", 1 },
		{ "partial write dropped=0", 1 },
		{ "partial write dropped=", 1 },
		{ "partial write dropped=-4", 1 },
		{ "partial write dropped=many", 1 },
		{ "partial write dropped=12", 12 }, /* to the end of the text */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(replies) / sizeof(*replies); i++) {
		struct answer a = answer_of(400, replies[i].text, "");

		assert_int_equal(a.kind, ANSWER_PARTLY);
		assert_int_equal(a.refused, replies[i].refused);
	}
	assert_true(answer_of(400, "partial write dropped=99999999999999999999999", "").refused >
		    1000000);
	assert_int_equal(answer_of(422, "dropped=5", "").refused, 5);
}

/* The text is in memory of just its length, which sanitizers watch. */
static void text_needs_no_nul_at_its_end(void **state)
{
	static const char *const texts[] = { "partial write dropped=3", "partial writ", "p", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const size_t length = strlen(texts[i]);
		char *copy = malloc(length ? length : 1);
		struct reply r = {
			.status = 400, .text = copy, .length = length, .retry_after = ""
		};
		struct answer a;

		assert_non_null(copy);
		memcpy(copy, texts[i], length);
		answer_read(&a, &r, NOW_S);
		free(copy);
		assert_int_equal(a.kind, i ? ANSWER_DIVIDE : ANSWER_PARTLY);
		assert_int_equal(a.refused, i ? 0 : 3);
		assert_string_equal(a.why + strlen("HTTP status 400") + (length ? 2 : 0), texts[i]);
	}
}

static void retry_after_is_a_number_or_a_date_of_at_most_an_hour(void **state)
{
	static const struct {
		const char *header;
		uint64_t s;
	} waits[] = {
		{ "30", 30 },
		{ "0", 0 },
		{ "1", 1 },
		{ "3600", 3600 },
		{ "3601", 3600 },
		{ "99999999999999999999999999", 3600 },
		{ "-5", 0 },
		{ "-99999999999999999999999999", 0 },
		{ "", 0 },
		{ "soon", 0 },
		{ " 7", 7 },
		{ "7 s", 7 },
		{ "Wed, 21 Oct 2015 07:28:00 GMT", 80 },
		{ "Wed, 21 Oct 2015 07:26:40 GMT", 0 }, /* now */
		{ "Wed, 21 Oct 2015 06:28:00 GMT", 0 },
		{ "Wed, 21 Oct 2035 07:28:00 GMT", 3600 },
		{ "Wed, 41 Oct 2015", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		assert_int_equal(answer_of(503, "", waits[i].header).wait_ns,
				 waits[i].s * NSEC_PER_SEC);
		assert_int_equal(answer_of(204, "", waits[i].header).wait_ns, 0);
		assert_int_equal(answer_of(401, "", waits[i].header).wait_ns, 0);
	}
}

static void the_reason_is_the_first_line_without_control_characters(void **state)
{
	char text[1000];

	(void)state;
	assert_string_equal(answer_of(500, "one\r\ntwo", "").why, "HTTP status 500: one");
	assert_string_equal(answer_of(500, "a\x1b[2Jb", "").why, "HTTP status 500: a?[2Jb");
	assert_string_equal(answer_of(500, "", "").why, "HTTP status 500");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(strlen(answer_of(500, text, "").why), strlen("HTTP status 500: ") + 160);
}

static struct answer answer_of_otlp(long status, const char *text, size_t length)
{
	const struct reply r = {
		.status = status, .text = text, .length = length, .is_otlp = true, .retry_after = ""
	};
	struct answer a;

	answer_read(&a, &r, NOW_S);
	return a;
}

#define OTLP(status, bytes) answer_of_otlp(status, bytes, sizeof(bytes) - 1)

static void otlp_server_says_in_the_body_what_it_has_refused(void **state)
{
	static const char partial[] = "\x0a\x0c\x08\x83\x02\x12\x07too old";
	struct answer a = OTLP(200, partial);

	(void)state;
	assert_int_equal(a.kind, ANSWER_PARTLY);
	assert_int_equal(a.refused, 259);
	assert_string_equal(a.why, "HTTP status 200: too old");
	assert_int_equal(answer_of(200, partial, "").kind, ANSWER_ACCEPTED); /* no OTLP */
	assert_int_equal(OTLP(200, "\x0a\x02\x08\x03").refused, 3);
	assert_string_equal(OTLP(200, "\x0a\x02\x08\x03").why, "HTTP status 200");
}

static void otlp_server_that_refuses_nothing_accepts(void **state)
{
	(void)state;
	assert_int_equal(OTLP(200, "").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "\x0a\x00").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "\x0a\x02\x08\x00").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "\x0a\x09\x12\x07warning").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "\x08\x05").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "\x0a\x7f\x08").kind, ANSWER_ACCEPTED);
	assert_int_equal(OTLP(200, "{\"partialSuccess\":{}}").kind, ANSWER_ACCEPTED);
	/* as of -1, which is no number of points */
	assert_int_equal(OTLP(200, "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").kind,
			 ANSWER_ACCEPTED);
}

static void otlp_error_is_the_message_of_its_status_or_a_text(void **state)
{
	struct answer a = OTLP(400, "\x08\x03\x12\x0d"
				    "bad data here");

	(void)state;
	assert_int_equal(a.kind, ANSWER_DIVIDE);
	assert_string_equal(a.why, "HTTP status 400: bad data here");
	assert_string_equal(OTLP(502, "<html>").why, "HTTP status 502: <html>");
	assert_int_equal(OTLP(502, "").kind, ANSWER_LATER);
	assert_string_equal(OTLP(500, "\x12\x00").why, "HTTP status 500");
	assert_string_equal(OTLP(500, "\x10\x07").why, "HTTP status 500");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_decides),
		cmocka_unit_test(without_an_answer_it_is_sent_later_unless_it_never_can_be),
		cmocka_unit_test(the_status_counts_even_if_the_body_broke_off),
		cmocka_unit_test(lines_of_a_partial_write_are_counted_as_the_server_says),
		cmocka_unit_test(text_needs_no_nul_at_its_end),
		cmocka_unit_test(retry_after_is_a_number_or_a_date_of_at_most_an_hour),
		cmocka_unit_test(the_reason_is_the_first_line_without_control_characters),
		cmocka_unit_test(otlp_server_says_in_the_body_what_it_has_refused),
		cmocka_unit_test(otlp_server_that_refuses_nothing_accepts),
		cmocka_unit_test(otlp_error_is_the_message_of_its_status_or_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

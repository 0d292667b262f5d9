// SPDX-License-Identifier: BSD-2-Clause
/* Views of runs whose numbers are extreme: sanitizers watch every cast. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number.h"
#include "export_fixture.h"
#include "page/figure.h"
#include "text/curve.h"
#include "text/meta_text.h"
#include "text/runs_text.h"

#include <jansson.h>
#include <string.h>

/* What @write prints, to be freed. */
#define PRINTED(f, text, call)                                                                     \
	do {                                                                                       \
		size_t length_;                                                                    \
		FILE *f = open_memstream(&(text), &length_);                                       \
		assert_non_null(f);                                                                \
		call;                                                                              \
		assert_int_equal(fclose(f), 0);                                                    \
	} while (0)

static void assert_start(const char *start_time, const char *expected)
{
	json_t *meta =
		json_pack("{s:o}", "start_time", json_loads(start_time, JSON_DECODE_ANY, NULL));
	char *text = NULL;

	PRINTED(f, text, meta_text(f, meta, 80));
	assert_string_equal(text, expected);
	free(text);
	json_decref(meta);
}

static void a_start_beyond_all_years_is_not_shown(void **state)
{
	(void)state;
	assert_start("1e300", "");
	assert_start("-1e300", "");
	assert_start("9223372036854775807", "");
}

static void curves_of_extreme_samples_are_drawn(void **state)
{
	struct sample s = { 0 };
	struct curves c;
	char *text = NULL;

	(void)state;
	curves_init(&c, 1, 80); /* the samples are later than its end */
	for (uint64_t i = 0; i < 3; i++) {
		s.elapsed_ns = NUMBER_MAX / 3 * i;
		sample_set(&s, M_rss, UINT64_MAX);
		sample_set(&s, M_read, i % 2 ? 0 : NUMBER_MAX); /* it falls */
		curves_add(&c, &s);
	}
	PRINTED(f, text, curves_draw(&c, f, false));
	assert_non_null(strstr(text, "EiB"));
	free(text);
}

/* 8 ms of CPU time in 4 ms, as at the end of a tick, are not two cores. */
static void cores_of_a_short_first_sample_are_not_drawn(void **state)
{
	struct sample first = { .elapsed_ns = 4000000 }, second = { .elapsed_ns = 104000000 };
	struct curves c;

	(void)state;
	sample_set(&first, M_cores, 2000);
	sample_set(&second, M_cores, 500);
	curves_init(&c, second.elapsed_ns, 80);
	curves_add(&c, &first);
	assert_true(c.value[CURVE_CPU][0] < 0);
	curves_add(&c, &second);
	for (size_t i = 0; i < c.columns; i++) /* 58 ms of CPU time in 104 ms */
		assert_int_equal(c.value[CURVE_CPU][i], 557);
}

static void a_list_of_extreme_runs_is_shown(void **state)
{
	static const char *const sources[] = { "" };
	static const struct run_columns usual;
	struct stored_run run = {
		.id = INT64_MAX,
		.uuid = "u",
		.tags = "\0",
		.start_epoch_ns = UINT64_MAX,
		.exit_code = INT64_MIN,
		.signal = INT64_MAX,
		.wall_ns = INT64_MAX,
		.cpu_ns = INT64_MIN,
		.rss_peak_bytes = INT64_MAX,
	};
	const struct stored_runs all = { .runs = &run, .nr = 1 };
	char *text = NULL;

	(void)state;
	PRINTED(f, text, runs_table(f, &all, 1, sources, &usual, 200));
	assert_non_null(strstr(text, "9223372036854775807"));
	free(text);
	PRINTED(f, text, assert_int_equal(runs_json(f, &all, 1, sources), 0));
	free(text);
}

/* Each number as large as a double can be, or as an integer: of samples, processes, metrics. */
static const char extreme_run[] =
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":1e300,\"system\":{\"cpus\":"
	"9223372036854775807,\"memory_bytes\":-1}}\n"
	"{\"kind\":\"sample\",\"elapsed_seconds\":9e9,\"rss_bytes\":9223372036854775807,"
	"\"cores\":9e15,\"cpu_seconds\":9e9}\n"
	"{\"kind\":\"sample\",\"elapsed_seconds\":9.1e9,\"rss_bytes\":1,\"cores\":9e15}\n"
	"{\"kind\":\"event\",\"event\":\"mark\",\"time\":-1e308,\"text\":\"x\"}\n"
	"{\"kind\":\"metric\",\"elapsed_seconds\":1e300,\"name\":\"m\",\"fields\":{\"f\":1e308}}\n"
	"{\"kind\":\"metric\",\"elapsed_seconds\":1,\"reported_time\":-1e308,\"name\":\"m\","
	"\"fields\":{\"f\":-1e308}}\n"
	"{\"kind\":\"process\",\"pid\":1e300,\"start_time\":1e300,\"end_time\":9e9}\n"
	"{\"kind\":\"summary\",\"wall_seconds\":1e300,\"cpu_seconds\":1e300,\"exit_code\":1e300}\n";

static void an_extreme_run_is_exported_in_every_format(void **state)
{
	const struct place *p = *state;
	const struct export_format *f;

	file_write(p->path, extreme_run);
	for (size_t i = 0; (f = export_at(i)); i++)
		for (size_t k = 0; k < EXPORT_DOCUMENTS && f->documents[k].write; k++)
			free(export_file(p->path, &f->documents[k]));
}

static void an_extreme_run_is_drawn(void **state)
{
	const struct place *p = *state;
	static struct report_run r; /* too large for the stack */
	struct source s;
	struct page_data d = { 0 };
	char *text = NULL;

	file_write(p->path, extreme_run);
	assert_int_equal(source_open_file(&s, p->path), 0);
	assert_int_equal(report_open(&r), 0);
	assert_int_equal(report_read(&r, &s), 0);
	assert_int_equal(report_write_data(&r, "run", &d), 0);
	PRINTED(f, text,
		assert_int_equal(
			figure_write(f, &r, &(struct figure_layout){ .panel = FIGURE_ALL }), 0));
	free(text);
	jsonw_done(&d.json);
	report_close(&r);
	source_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_beyond_all_years_is_not_shown),
		cmocka_unit_test(curves_of_extreme_samples_are_drawn),
		cmocka_unit_test(cores_of_a_short_first_sample_are_not_drawn),
		cmocka_unit_test(a_list_of_extreme_runs_is_shown),
		PLACE_TEST(an_extreme_run_is_exported_in_every_format),
		PLACE_TEST(an_extreme_run_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

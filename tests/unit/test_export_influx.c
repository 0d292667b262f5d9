// SPDX-License-Identifier: BSD-2-Clause
/* A database keeps all points: no two have the same time, and no field hides a tag. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/influx_text.h"
#include "export_fixture.h"

#define META "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"r\",\"start_time\":1000.5}\n"
#define US 1000UL

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void assert_all_differ(uint64_t *list, size_t nr)
{
	qsort(list, nr, sizeof(*list), by_number);
	for (size_t i = 1; i < nr; i++)
		assert_int_not_equal(list[i], list[i - 1]);
}

/* The times of the points in @text, to be freed. */
static uint64_t *times_of(char *text, size_t *nr)
{
	uint64_t *times = calloc(strlen(text) / 10 + 1, sizeof(*times));
	char *rest = NULL;

	assert_non_null(times);
	*nr = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		times[(*nr)++] = strtoull(strrchr(line, ' ') + 1, NULL, 10);
	return times;
}

/* All of @nr lines, written with the number of each, have a time of their own, of @first to @last.
 */
static void assert_times(struct place *p, const char *line, unsigned nr, uint64_t first,
			 uint64_t last)
{
	FILE *f = fopen(p->path, "w");
	uint64_t *times;
	size_t points;
	char *text;

	assert_non_null(f);
	fputs(META, f);
	for (unsigned i = 0; i < nr; i++)
		fprintf(f, line, i);
	fclose(f);
	text = export_as(p->path, "influx");
	times = times_of(text, &points);
	assert_int_equal(points, nr);
	assert_all_differ(times, points);
	assert_in_range(times[0], first, last);
	assert_in_range(times[points - 1], first, last);
	free(times);
	free(text);
}

static void many_live_processes_have_times_of_their_own(void **state)
{
	assert_times(*state,
		     "{\"kind\":\"process\",\"pid\":%u,\"comm\":\"sleep\",\"exe\":\"/bin/sleep\","
		     "\"start_time\":1000.75,\"end_time\":null,\"state\":\"S\"}\n",
		     2500, 1000500000 * US, 1000500000 * US + 3 * US);
}

static void many_points_with_one_reported_time_have_times_of_their_own(void **state)
{
	assert_times(*state,
		     "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\",\"tags\":{},"
		     "\"fields\":{\"v\":%u},\"reported_time\":1000}\n",
		     2500, 1000000000 * US, 1000000000 * US + 3 * US);
}

/* The first point of each gets its own microsecond; the overflow of both goes to later ones. */
static void full_microsecond_takes_nothing_from_the_next(void **state)
{
	const size_t each = 1500, nr = 2 * each;
	uint64_t *times = calloc(nr, sizeof(*times));
	struct influx_times t;

	(void)state;
	assert_non_null(times);
	assert_int_equal(influx_times_init(&t), 0);
	for (size_t i = 0; i < each; i++) {
		times[2 * i] = influx_times_next(&t, 5 * US);
		times[2 * i + 1] = influx_times_next(&t, 6 * US + 7);
	}
	assert_int_equal(times[0], 5 * US);
	assert_int_equal(times[1], 6 * US);
	assert_all_differ(times, nr);
	assert_true(times[nr - 1] < 9 * US);
	influx_times_done(&t);
	free(times);
}

static void times_beyond_the_range_of_databases_become_the_last_within(void **state)
{
	assert_times(*state,
		     "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\",\"tags\":{},"
		     "\"fields\":{\"v\":%u},\"reported_time\":9223372036.854775807}\n",
		     2500, INT64_MAX - 1000000000, INT64_MAX - 1);
	assert_times(*state,
		     "{\"kind\":\"metric\",\"elapsed_seconds\":1e300,\"name\":\"loss\",\"tags\":{},"
		     "\"fields\":{\"v\":%u}}\n",
		     2500, INT64_MAX - 1000000000, INT64_MAX - 1);
	assert_times(*state,
		     "{\"kind\":\"process\",\"pid\":%u,\"start_time\":1000.75,\"end_time\":1e10}\n",
		     2500, INT64_MAX - 1000000000, INT64_MAX - 1);
}

static void assert_line(struct place *p, const char *meta, const char *line, const char *expected)
{
	char run[1000], *text;

	snprintf(run, sizeof(run), "%s%s\n", meta, line);
	file_write(p->path, run);
	text = export_as(p->path, "influx");
	assert_string_equal(text, expected);
	free(text);
}

#define META_TAGS(tags)                                                                            \
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/"                                                  \
	"1\",\"run\":\"r\",\"start_time\":5,\"tags\":{" tags "}}\n"

static void tag_with_the_name_of_a_builtin_field_is_renamed(void **state)
{
	assert_line(*state, META_TAGS("\"pid\":\"7\",\"text\":\"9\",\"alive\":\"x\""),
		    "{\"kind\":\"event\",\"time\":6,\"event\":\"mark\",\"text\":\"a\",\"pid\":1}",
		    "bpfmon_event,run=r,tag_pid=7,tag_text=9,tag_alive=x,event=mark "
		    "elapsed_seconds=1,text=\"a\",pid=1i 6000000000\n");
}

/* As an event of a later version may have. */
static void event_field_with_the_name_of_a_tag_is_renamed(void **state)
{
	assert_line(*state, META_TAGS("\"weather\":\"w\""),
		    "{\"kind\":\"event\",\"time\":6,\"event\":\"rain\",\"weather\":1}",
		    "bpfmon_event,run=r,weather=w,event=rain elapsed_seconds=1,field_weather=1i "
		    "6000000000\n");
}

static void pushed_metric_with_the_name_of_a_measurement_is_renamed(void **state)
{
	char line[200], expected[200];

	for (int i = 0; i < NR_INFLUX_MEASUREMENTS; i++) {
		const char *name = influx_measurement_name((enum influx_measurement)i);

		snprintf(line, sizeof(line),
			 "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"%s\",\"tags\":{},"
			 "\"fields\":{\"v\":1}}",
			 name);
		snprintf(expected, sizeof(expected), "pushed_%s,run=r v=1 6000000000\n", name);
		assert_line(*state, META_TAGS(""), line, expected);
	}
}

/* Of a file that another program has written: a database refuses a field without a name. */
static void fields_without_a_name_are_left_out(void **state)
{
	assert_line(*state, META_TAGS(""),
		    "{\"kind\":\"event\",\"time\":6,\"event\":\"rain\",\"\":4096,\"mm\":1}",
		    "bpfmon_event,run=r,event=rain elapsed_seconds=1,mm=1i 6000000000\n");
	assert_line(*state, META_TAGS(""),
		    "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\","
		    "\"tags\":{},\"fields\":{\"\":1,\"value\":4}}",
		    "loss,run=r value=4 6000000000\n");
}

static void pushed_field_with_the_name_of_a_tag_is_renamed(void **state)
{
	assert_line(*state, META_TAGS("\"lr\":\"0.1\""),
		    "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\","
		    "\"tags\":{\"phase\":\"p\"},\"fields\":{\"lr\":1,\"phase\":2,\"run\":3,"
		    "\"value\":4,\"time\":5}}",
		    "loss,run=r,lr=0.1,phase=p field_lr=1,field_phase=2,field_run=3,value=4,"
		    "field_time=5 6000000000\n");
}

static void renamed_field_takes_no_name_of_another(void **state)
{
	assert_line(*state, META_TAGS("\"lr\":\"0.1\""),
		    "{\"kind\":\"metric\",\"elapsed_seconds\":1,\"name\":\"loss\",\"tags\":{},"
		    "\"fields\":{\"lr\":1,\"field_lr\":2}}",
		    "loss,run=r,lr=0.1 field_field_lr=1,field_lr=2 6000000000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(many_live_processes_have_times_of_their_own),
		PLACE_TEST(many_points_with_one_reported_time_have_times_of_their_own),
		cmocka_unit_test(full_microsecond_takes_nothing_from_the_next),
		PLACE_TEST(times_beyond_the_range_of_databases_become_the_last_within),
		PLACE_TEST(tag_with_the_name_of_a_builtin_field_is_renamed),
		PLACE_TEST(fields_without_a_name_are_left_out),
		PLACE_TEST(event_field_with_the_name_of_a_tag_is_renamed),
		PLACE_TEST(pushed_metric_with_the_name_of_a_measurement_is_renamed),
		PLACE_TEST(pushed_field_with_the_name_of_a_tag_is_renamed),
		PLACE_TEST(renamed_field_takes_no_name_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

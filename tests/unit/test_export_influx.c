// SPDX-License-Identifier: BSD-2-Clause
/* Points that a database keeps all of: no two share a time, and no field hides a tag. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/influx_time.h"
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

/* The first of each takes its own microsecond; what the other does not hold goes to the next. */
static void full_microsecond_takes_nothing_from_the_next(void **state)
{
	const size_t each = 1500, nr = 2 * each;
	uint64_t *times = calloc(nr, sizeof(*times));
	struct influx_times t;

	(void)state;
	assert_non_null(times);
	assert_int_equal(influx_times_init(&t), 0);
	for (size_t i = 0; i < each; i++) {
		times[2 * i] = influx_time(&t, 5 * US);
		times[2 * i + 1] = influx_time(&t, 6 * US + 7);
	}
	assert_int_equal(times[0], 5 * US);
	assert_int_equal(times[1], 6 * US);
	assert_all_differ(times, nr);
	assert_true(times[nr - 1] < 9 * US);
	influx_times_done(&t);
	free(times);
}

static void times_that_no_database_takes_are_the_last_that_one_takes(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(many_live_processes_have_times_of_their_own),
		PLACE_TEST(many_points_with_one_reported_time_have_times_of_their_own),
		cmocka_unit_test(full_microsecond_takes_nothing_from_the_next),
		PLACE_TEST(times_that_no_database_takes_are_the_last_that_one_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

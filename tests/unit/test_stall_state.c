// SPDX-License-Identifier: BSD-2-Clause
/* Whether a run is stalled now: its last event of a stall says so, in a line and in a store. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/database_open.h"
#include "store_fixture.h"

#include <jansson.h>

#define STALLED(at, reason)                                                                        \
	"{\"kind\":\"event\",\"time\":" at ",\"event\":\"stalled\",\"since_time\":1000.25,"        \
	"\"pids\":[5]" reason "}\n"
#define RESUMED "{\"kind\":\"event\",\"time\":1009,\"event\":\"resumed\",\"since_time\":1000.25}\n"
#define MARK "{\"kind\":\"event\",\"time\":1008,\"event\":\"mark\",\"text\":\"sort\"}\n"
#define LOCK ",\"reason\":\"5 cc waits for a lock\""

static bool take(struct stall_state *s, const char *line)
{
	json_t *event = json_loads(line, 0, NULL);
	bool is_taken = stall_state_update(s, event);

	json_decref(event);
	return is_taken;
}

static void last_event_of_a_stall_decides(void **state)
{
	struct stall_state s = { 0 };

	(void)state;
	assert_true(take(&s, STALLED("1060", LOCK)));
	assert_true(s.is_stalled);
	assert_true(s.since_epoch_ns == 1000250000000);
	assert_string_equal(s.reason, "5 cc waits for a lock");
	assert_false(take(&s, MARK));
	assert_true(s.is_stalled);
	assert_true(take(&s, RESUMED));
	assert_false(s.is_stalled);
	assert_string_equal(s.reason, "");
	assert_false(take(&s, "[]"));
	assert_false(take(&s, "{\"kind\":\"sample\"}"));
}

static void time_out_of_range_is_none(void **state)
{
	struct stall_state s = { 0 };

	(void)state;
	assert_true(take(&s, "{\"event\":\"stalled\",\"since_time\":1e300}"));
	assert_true(s.is_stalled && !s.since_epoch_ns);
	assert_true(take(&s, "{\"event\":\"stalled\",\"since_time\":-1}"));
	assert_true(s.is_stalled && !s.since_epoch_ns);
}

static void assert_written(const struct stall_state *s, const char *expected)
{
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	stall_state_write(s, &j);
	jsonw_object_end(&j);
	assert_int_equal(j.used, strlen(expected));
	assert_memory_equal(j.text, expected, j.used);
	jsonw_done(&j);
}

static void only_a_stall_is_written(void **state)
{
	struct stall_state s = { 0 };

	(void)state;
	assert_written(&s, "{}");
	s.is_stalled = true;
	assert_written(&s, "{\"stalled\":{}}");
	s.since_epoch_ns = 1000250000000;
	snprintf(s.reason, sizeof(s.reason), "5 \"cc\" waits");
	assert_written(&s,
		       "{\"stalled\":{\"since_time\":1000.25,\"reason\":\"5 \\\"cc\\\" waits\"}}");
}

static void look(const struct place *f, int64_t *last, struct stall_state *s)
{
	struct database d;

	assert_int_equal(database_open(&d, f->path, DATABASE_READ), 0);
	assert_int_equal(query_stall(&d, 1, last, s), 0);
	database_close(&d);
}

static void store_has_the_state_from_the_events_that_are_new(void **state)
{
	struct place *f = *state;
	struct stall_state s = { 0 };
	int64_t last = INT64_MIN, seen;

	keep(f->path, RUN SAMPLE_1 STALLED("1060", LOCK) MARK);
	look(f, &last, &s);
	assert_true(s.is_stalled);
	assert_string_equal(s.reason, "5 cc waits for a lock");
	seen = last;
	s.is_stalled = false;
	look(f, &last, &s);
	assert_false(s.is_stalled); /* there is no new one */
	assert_true(last == seen);
}

static void store_has_none_after_the_run_goes_on(void **state)
{
	struct place *f = *state;
	struct stall_state s = { 0 };
	int64_t last = INT64_MIN;

	keep(f->path, RUN SAMPLE_1 STALLED("1060", LOCK) RESUMED MARK);
	look(f, &last, &s);
	assert_false(s.is_stalled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_event_of_a_stall_decides),
		cmocka_unit_test(time_out_of_range_is_none),
		cmocka_unit_test(only_a_stall_is_written),
		PLACE_TEST(store_has_the_state_from_the_events_that_are_new),
		PLACE_TEST(store_has_none_after_the_run_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

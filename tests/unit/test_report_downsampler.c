// SPDX-License-Identifier: BSD-2-Clause
/* Thinning leaves fewer rows, and all peaks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/downsampler.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROOM 8

/* Rows one second apart; column 0 is a saw, column 1 has one spike, at @spike. */
static struct downsampler_row *thin_saw(size_t rows, size_t spike, size_t *nr)
{
	struct downsampler_row *kept;
	struct downsampler t;

	assert_int_equal(downsampler_init(&t, 2, ROOM), 0);
	for (size_t i = 0; i < rows; i++) {
		struct downsampler_row row = { .seconds = (double)i };

		row.value[0] = (double)(i % 7);
		row.value[1] = i == spike ? 1000 : 1;
		downsampler_add(&t, &row);
	}
	kept = downsampler_get_rows(&t, nr);
	assert_non_null(kept);
	downsampler_done(&t);
	return kept;
}

static bool is_kept(const struct downsampler_row *kept, size_t nr, double seconds,
		    double second_column)
{
	for (size_t i = 0; i < nr; i++)
		if (kept[i].seconds == seconds)
			return kept[i].value[1] == second_column;
	return false;
}

static void as_many_rows_as_there_is_room_for_stay_as_they_are(void **state)
{
	size_t nr;
	struct downsampler_row *kept = thin_saw(ROOM, 3, &nr);

	(void)state;
	assert_int_equal(nr, ROOM);
	for (size_t i = 0; i < nr; i++) {
		assert_true(kept[i].seconds == (double)i);
		assert_true(kept[i].value[0] == (double)(i % 7));
	}
	free(kept);
}

static void one_spike_among_many_stays_wherever_it_is(void **state)
{
	(void)state;
	for (size_t spike = 0; spike < 1000; spike += 37) {
		size_t nr;
		struct downsampler_row *kept = thin_saw(1000, spike, &nr);

		assert_true(is_kept(kept, nr, (double)spike, 1000));
		free(kept);
	}
}

static void kept_rows_are_bounded_and_in_order(void **state)
{
	size_t nr;
	struct downsampler_row *kept = thin_saw(100000, 5, &nr);

	(void)state;
	assert_in_range(nr, ROOM / 2, ROOM * 5);
	for (size_t i = 1; i < nr; i++)
		assert_true(kept[i].seconds > kept[i - 1].seconds);
	free(kept);
}

static void the_first_row_stays(void **state)
{
	size_t nr;
	struct downsampler_row *kept = thin_saw(5000, 4000, &nr);

	(void)state;
	assert_true(kept[0].seconds == 0);
	free(kept);
}

static void the_smallest_value_stays_too(void **state)
{
	struct downsampler_row *kept;
	struct downsampler t;
	size_t nr;
	bool found = false;

	(void)state;
	assert_int_equal(downsampler_init(&t, 1, ROOM), 0);
	for (int i = 0; i < 500; i++) {
		struct downsampler_row row = { .seconds = i, .value = { i == 321 ? 2 : 50 } };

		downsampler_add(&t, &row);
	}
	kept = downsampler_get_rows(&t, &nr);
	for (size_t i = 0; i < nr; i++)
		found |= kept[i].seconds == 321 && kept[i].value[0] == 2;
	assert_true(found);
	free(kept);
	downsampler_done(&t);
}

static void unread_value_is_neither_smallest_nor_largest(void **state)
{
	struct downsampler_row *kept;
	struct downsampler t;
	size_t nr, read = 0;

	(void)state;
	assert_int_equal(downsampler_init(&t, 1, ROOM), 0);
	for (int i = 0; i < 64; i++) {
		struct downsampler_row row = { .seconds = i, .value = { i == 20 ? 7 : NAN } };

		downsampler_add(&t, &row);
	}
	kept = downsampler_get_rows(&t, &nr);
	for (size_t i = 0; i < nr; i++)
		read += !isnan(kept[i].value[0]);
	assert_int_equal(read, 1);
	assert_in_range(nr, 2, ROOM + 1); /* that row, and the first of each bucket */
	free(kept);
	downsampler_done(&t);
}

/* Charts may have more curves than any has now. */
static void the_last_of_many_columns_keeps_its_peak(void **state)
{
	struct downsampler_row *kept;
	struct downsampler t;
	size_t nr;

	(void)state;
	assert_in_range(DOWNSAMPLER_COLUMNS, 12, 64);
	assert_int_equal(downsampler_init(&t, DOWNSAMPLER_COLUMNS, ROOM), 0);
	for (int i = 0; i < 1000; i++) {
		struct downsampler_row row = { .seconds = i };

		row.value[DOWNSAMPLER_COLUMNS - 1] = i == 321 ? 2 : 1;
		downsampler_add(&t, &row);
	}
	kept = downsampler_get_rows(&t, &nr);
	for (size_t i = 0; i < nr && kept[i].seconds <= 321; i++)
		if (kept[i].seconds == 321)
			nr = 0;
	assert_int_equal(nr, 0);
	free(kept);
	downsampler_done(&t);
}

static void no_rows_give_no_rows(void **state)
{
	size_t nr;
	struct downsampler_row *kept = thin_saw(0, 0, &nr);

	(void)state;
	assert_int_equal(nr, 0);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_rows_as_there_is_room_for_stay_as_they_are),
		cmocka_unit_test(one_spike_among_many_stays_wherever_it_is),
		cmocka_unit_test(kept_rows_are_bounded_and_in_order),
		cmocka_unit_test(the_first_row_stays),
		cmocka_unit_test(the_smallest_value_stays_too),
		cmocka_unit_test(unread_value_is_neither_smallest_nor_largest),
		cmocka_unit_test(the_last_of_many_columns_keeps_its_peak),
		cmocka_unit_test(no_rows_give_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

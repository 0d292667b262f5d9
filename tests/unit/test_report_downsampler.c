// SPDX-License-Identifier: BSD-2-Clause
/* Many rows become few buckets, which have means and all peaks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/downsampler.h"

#include <math.h>
#include <stdlib.h>

#define ROOM 8

/* Rows one second apart; column 0 is a saw, column 1 has one spike, at @spike. */
static struct downsampler_bucket *thin_saw(size_t rows, size_t spike, size_t *nr)
{
	struct downsampler_bucket *list;
	struct downsampler t;

	assert_int_equal(downsampler_init(&t, 2, ROOM), 0);
	for (size_t i = 0; i < rows; i++) {
		struct downsampler_row row = { .seconds = (double)i };

		row.value[0] = (double)(i % 7);
		row.value[1] = i == spike ? 1000 : 1;
		downsampler_add(&t, &row, 1);
	}
	list = downsampler_get(&t, nr);
	assert_non_null(list);
	downsampler_done(&t);
	return list;
}

/* The largest value of column 1 in the bucket that has the row at @seconds. */
static double most_at(const struct downsampler_bucket *list, size_t nr, double seconds)
{
	for (size_t i = 0; i < nr; i++)
		if (list[i].seconds >= seconds)
			return list[i].value[BUCKET_MOST][1];
	return NAN;
}

static void as_many_rows_as_there_is_room_for_stay_as_they_are(void **state)
{
	size_t nr;
	struct downsampler_bucket *list = thin_saw(ROOM, 3, &nr);

	(void)state;
	assert_int_equal(nr, ROOM);
	for (size_t i = 0; i < nr; i++) {
		assert_true(list[i].seconds == (double)i);
		for (int k = 0; k < NR_BUCKET_VALUES; k++)
			assert_true(list[i].value[k][0] == (double)(i % 7));
	}
	free(list);
}

static void one_spike_among_many_is_in_its_bucket(void **state)
{
	(void)state;
	for (size_t spike = 0; spike < 1000; spike += 37) {
		size_t nr;
		struct downsampler_bucket *list = thin_saw(1000, spike, &nr);

		assert_true(most_at(list, nr, (double)spike) == 1000);
		free(list);
	}
}

static void buckets_are_bounded_in_order_and_end_with_the_last_row(void **state)
{
	size_t nr;
	struct downsampler_bucket *list = thin_saw(100000, 5, &nr);

	(void)state;
	assert_in_range(nr, ROOM / 2, ROOM);
	for (size_t i = 1; i < nr; i++)
		assert_true(list[i].seconds > list[i - 1].seconds);
	assert_true(list[nr - 1].seconds == 99999);
	free(list);
}

/* Adds values a second apart in the first column. */
static struct downsampler_bucket *thin_values(const double *values, const double *weights,
					      size_t rows, size_t room, size_t *nr)
{
	struct downsampler_bucket *list;
	struct downsampler t;

	assert_int_equal(downsampler_init(&t, 1, room), 0);
	for (size_t i = 0; i < rows; i++) {
		struct downsampler_row row = { .seconds = (double)i, .value = { values[i] } };

		downsampler_add(&t, &row, weights ? weights[i] : 1);
	}
	list = downsampler_get(&t, nr);
	assert_non_null(list);
	downsampler_done(&t);
	return list;
}

static void mean_is_weighted_and_extremes_are_not(void **state)
{
	const double values[] = { 1, 5, 2, 8 }, weights[] = { 3, 1, 1, 1 };
	size_t nr;
	struct downsampler_bucket *list = thin_values(values, weights, 4, 2, &nr);

	(void)state;
	assert_int_equal(nr, 2);
	assert_true(list[0].value[BUCKET_MEAN][0] == 2 && list[1].value[BUCKET_MEAN][0] == 5);
	assert_true(list[0].value[BUCKET_LEAST][0] == 1 && list[0].value[BUCKET_MOST][0] == 5);
	assert_true(list[1].value[BUCKET_LEAST][0] == 2 && list[1].value[BUCKET_MOST][0] == 8);
	free(list);
}

static void unread_value_is_in_no_mean_and_no_extreme(void **state)
{
	const double values[] = { NAN, 7, NAN, NAN };
	size_t nr;
	struct downsampler_bucket *list = thin_values(values, NULL, 4, 2, &nr);

	(void)state;
	for (int k = 0; k < NR_BUCKET_VALUES; k++) {
		assert_true(list[0].value[k][0] == 7);
		assert_true(isnan(list[1].value[k][0]));
	}
	free(list);
}

/* Charts may have more curves than any has now. */
static void the_last_of_many_columns_keeps_its_peak(void **state)
{
	struct downsampler_bucket *list;
	struct downsampler t;
	size_t nr;
	double most = 0;

	(void)state;
	assert_in_range(DOWNSAMPLER_COLUMNS, 12, 64);
	assert_int_equal(downsampler_init(&t, DOWNSAMPLER_COLUMNS, ROOM), 0);
	for (int i = 0; i < 1000; i++) {
		struct downsampler_row row = { .seconds = i };

		row.value[DOWNSAMPLER_COLUMNS - 1] = i == 321 ? 2 : 1;
		downsampler_add(&t, &row, 1);
	}
	list = downsampler_get(&t, &nr);
	for (size_t i = 0; i < nr; i++)
		most = fmax(most, list[i].value[BUCKET_MOST][DOWNSAMPLER_COLUMNS - 1]);
	assert_true(most == 2);
	free(list);
	downsampler_done(&t);
}

static void no_rows_give_no_buckets(void **state)
{
	size_t nr;
	struct downsampler_bucket *list = thin_saw(0, 0, &nr);

	(void)state;
	assert_int_equal(nr, 0);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_rows_as_there_is_room_for_stay_as_they_are),
		cmocka_unit_test(one_spike_among_many_is_in_its_bucket),
		cmocka_unit_test(buckets_are_bounded_in_order_and_end_with_the_last_row),
		cmocka_unit_test(mean_is_weighted_and_extremes_are_not),
		cmocka_unit_test(unread_value_is_in_no_mean_and_no_extreme),
		cmocka_unit_test(the_last_of_many_columns_keeps_its_peak),
		cmocka_unit_test(no_rows_give_no_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

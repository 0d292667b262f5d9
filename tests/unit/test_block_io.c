// SPDX-License-Identifier: BSD-2-Clause
/* Block I/O of a job: what is in the sum, and histograms of latencies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "measure/block_io.h"
#include "run/reader.h"
#include "run/writer.h"

#define NUMBER(major, minor) ((major) << BLOCK_MINOR_BITS | (minor))
#define NOWHERE 4000 /* a major that no device has */

static const struct block_key read_of_a = { .device = NUMBER(NOWHERE, 1), .direction = BLOCK_READ },
			      write_of_a = { .device = NUMBER(NOWHERE, 1),
					     .direction = BLOCK_WRITE },
			      write_of_b = { .cgroup = 9,
					     .device = NUMBER(NOWHERE, 2),
					     .direction = BLOCK_WRITE };

static void count(struct block_io *b, const struct block_key *key, const char *disk, uint64_t ops,
		  unsigned bucket)
{
	struct block_count c = { .bytes = ops * 512, .ops = ops, .timed = ops };

	c.latency_ns = ops << bucket;
	c.buckets[bucket] = ops;
	snprintf(c.disk, sizeof(c.disk), "%s", disk);
	block_io_add(b, key, &c);
}

static void sample_of(const struct block_io *b, struct sample *smp)
{
	struct metric_set all;

	metric_set_all(&all);
	block_io_put(b, &all, smp);
}

static void whole_is_the_sum_of_the_devices(void **state)
{
	struct block_io b = { 0 };
	struct sample s = { 0 };

	(void)state;
	count(&b, &read_of_a, "a", 1, 10);
	count(&b, &write_of_a, "a", 2, 10);
	count(&b, &write_of_b, "b", 4, 12);
	count(&b, &write_of_b, "b", 8, 12); /* of another cgroup */
	sample_of(&b, &s);
	assert_int_equal(s.value[M_block_read], 512);
	assert_int_equal(s.value[M_block_write], 14 * 512);
	assert_int_equal(s.value[M_block_write_ops], 14);
	assert_true(sample_has(&s, M_block_flush_ops));
	assert_int_equal(s.nr_instances, 2);
	assert_string_equal(s.instances[1].name, "b");
	assert_int_equal(s.instances[1].value[M_block_write_ops], 12);
	assert_false(metric_has(&s.instances[1].have, M_block_read_ops));
	sample_reset(&s);
	block_io_done(&b);
}

static void counts_are_read_anew_each_time(void **state)
{
	struct block_io b = { 0 };
	struct sample s = { 0 };

	(void)state;
	count(&b, &write_of_a, "a", 2, 10);
	block_io_begin(&b);
	count(&b, &write_of_a, "a", 3, 10);
	sample_of(&b, &s);
	assert_int_equal(s.value[M_block_write_ops], 3);
	sample_reset(&s);
	block_io_done(&b);
}

static void latency_that_the_kernel_does_not_keep_is_absent(void **state)
{
	struct block_count untimed = { .bytes = 512, .ops = 1, .disk = "a" };
	struct block_latencies l = { 0 };
	struct block_io b = { 0 };
	struct sample s = { 0 };

	(void)state;
	block_io_add(&b, &write_of_a, &untimed);
	sample_of(&b, &s);
	assert_false(sample_has(&s, M_block_write_latency));
	assert_true(sample_has(&s, M_block_read_latency));
	assert_false(metric_has(&s.instances[0].have, M_block_write_latency));
	block_io_put_latencies(&b, &l);
	assert_int_equal(l.nr, 0);
	sample_reset(&s);
	block_io_done(&b);
}

static void bytes_that_a_driver_does_not_leave_are_absent(void **state)
{
	struct block_count unsized = { .bytes = 512, .ops = 2, .unsized = 1, .disk = "ram0" };
	struct block_io b = { 0 };
	struct sample s = { 0 };

	(void)state;
	count(&b, &read_of_a, "a", 1, 10);
	count(&b, &write_of_b, "b", 1, 10);
	block_io_add(&b, &write_of_a, &unsized);
	sample_of(&b, &s);
	assert_false(sample_has(&s, M_block_write));
	assert_int_equal(s.value[M_block_write_ops], 3);
	assert_int_equal(s.value[M_block_read], 512);
	assert_false(metric_has(&s.instances[0].have, M_block_write));
	assert_int_equal(s.instances[0].value[M_block_write_ops], 2);
	sample_reset(&s);
	block_io_done(&b);
}

static void histograms_are_read_back_as_they_were(void **state)
{
	struct summary s = { 0 };
	struct block_io b = { 0 };
	struct jsonw j = { 0 };
	struct line l = { 0 };

	(void)state;
	count(&b, &read_of_a, "a", 3, 10);
	count(&b, &write_of_a, "a", 5, BLOCK_BUCKETS - 1);
	count(&b, &write_of_b, "b", 7, 0);
	block_io_put_latencies(&b, &s.latencies);
	write_summary(&j, &s);
	assert_non_null(strstr(j.text, "\"block_latency\":{\"a\":{\"read\":[[2048,3]],"
				       "\"write\":[[1099511627776,5]]},"
				       "\"b\":{\"write\":[[2,7]]}}"));
	assert_int_equal(line_read(&l, j.text, j.used), 0);
	assert_int_equal(l.summary.latencies.nr, s.latencies.nr);
	assert_memory_equal(l.summary.latencies.all, s.latencies.all,
			    s.latencies.nr * sizeof(*s.latencies.all));
	line_done(&l);
	jsonw_done(&j);
	summary_done(&s);
	block_io_done(&b);
}

static void percentile_is_the_bound_of_its_bucket(void **state)
{
	struct block_latency l = { .count = { [4] = 98, [9] = 1, [20] = 1 } };
	const struct block_latency none = { 0 };

	(void)state;
	assert_int_equal(latency_operations(&l), 100);
	assert_int_equal(latency_percentile_ns(&l, 50), 32);
	assert_int_equal(latency_percentile_ns(&l, 99), 1024);
	assert_int_equal(latency_percentile_ns(&l, 100), 2 << 20);
	assert_int_equal(latency_percentile_ns(&none, 50), 0);
}

static void put_folder(const struct place *p, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void device_above_others_is_stacked(void **state)
{
	const struct place *p = *state;

	put_folder(p, "dev");
	put_folder(p, "dev/block");
	put_folder(p, "dev/block/8:1");
	put_folder(p, "dev/block/8:1/slaves");
	assert_false(block_device_is_stacked(p->dir, NUMBER(8, 1)));
	assert_false(block_device_is_stacked(p->dir, NUMBER(8, 2)));
	put_folder(p, "dev/block/8:1/slaves/sda");
	assert_true(block_device_is_stacked(p->dir, NUMBER(8, 1)));
}

static void loop_device_is_stacked_if_its_file_is_on_a_device(void **state)
{
	const struct place *p = *state;

	put_folder(p, "dev");
	put_folder(p, "dev/block");
	put_folder(p, "dev/block/7:3");
	put_folder(p, "dev/block/7:3/loop");
	place_put(p, "dev/block/7:3/loop/backing_file", "/proc/self/status\n");
	assert_false(block_device_is_stacked(p->dir, NUMBER(7, 3)));
	place_put(p, "dev/block/7:3/loop/backing_file", "/gone (deleted)\n");
	assert_true(block_device_is_stacked(p->dir, NUMBER(7, 3)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_is_the_sum_of_the_devices),
		cmocka_unit_test(counts_are_read_anew_each_time),
		cmocka_unit_test(latency_that_the_kernel_does_not_keep_is_absent),
		cmocka_unit_test(bytes_that_a_driver_does_not_leave_are_absent),
		cmocka_unit_test(histograms_are_read_back_as_they_were),
		cmocka_unit_test(percentile_is_the_bound_of_its_bucket),
		PLACE_TEST(device_above_others_is_stacked),
		PLACE_TEST(loop_device_is_stacked_if_its_file_is_on_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

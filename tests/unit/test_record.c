// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/record.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define OFFSET_NS 1700000000000000000ULL
#define W_EXIT(code) ((code) << 8)
#define W_CORE 0x80
#define NO_SUCH_PID 0x7ffffff0

/* Reads @r with all metrics and no images. */
static struct process read_record(const struct process_record *r, const struct drain_row *row)
{
	struct metric_set all;
	struct images images;
	struct process p;

	metric_set_all(&all);
	assert_int_equal(images_init(&images), 0);
	record_read(&p, r, row, &images, &all, OFFSET_NS);
	images_done(&images);
	return p;
}

static struct process read_ended_with(uint32_t wait_status)
{
	struct process_record r = { .flags = PROCESS_ENDED, .wait_status = wait_status };

	return read_record(&r, NULL);
}

static uint64_t pages(uint64_t n)
{
	return n * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void the_identity_of_the_process_is_copied(void **state)
{
	struct process_record r = { .pid = 10,
				    .ns_pid = 2,
				    .ppid = 9,
				    .uid = 1000,
				    .threads_total = 3,
				    .execs = 4,
				    .comm = "fifteen letters" };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_int_equal(p.pid, 10);
	assert_int_equal(p.ns_pid, 2);
	assert_int_equal(p.ppid, 9);
	assert_int_equal(p.uid, 1000);
	assert_int_equal(p.threads_total, 3);
	assert_int_equal(p.execs, 4);
	assert_string_equal(p.comm, "fifteen letters");
	assert_null(p.exe);
	assert_null(p.args);
}

static void exit_code_is_the_high_byte_of_the_status(void **state)
{
	struct process p;

	(void)state;
	p = read_ended_with(W_EXIT(42));
	assert_true(p.has_ended);
	assert_int_equal(p.exit_code, 42);
	assert_int_equal(p.signal, 0);
}

static void largest_exit_code_is_no_signal(void **state)
{
	struct process p;

	(void)state;
	p = read_ended_with(W_EXIT(255));
	assert_int_equal(p.exit_code, 255);
	assert_int_equal(p.signal, 0);
}

static void signal_is_the_low_bits_of_the_status(void **state)
{
	struct process p;

	(void)state;
	p = read_ended_with(SIGKILL);
	assert_int_equal(p.signal, SIGKILL);
	assert_int_equal(p.exit_code, 0);
}

static void dumped_core_does_not_change_the_signal(void **state)
{
	struct process p;

	(void)state;
	p = read_ended_with(SIGSEGV | W_CORE);
	assert_int_equal(p.signal, SIGSEGV);
}

static void real_time_signal_is_a_signal(void **state)
{
	struct process p;

	(void)state;
	p = read_ended_with(64);
	assert_int_equal(p.signal, 64);
}

static void times_move_from_boot_to_epoch(void **state)
{
	struct process_record r = { .flags = PROCESS_ENDED, .start_boot_ns = 5, .end_boot_ns = 9 };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_int_equal(p.start_epoch_ns, OFFSET_NS + 5);
	assert_int_equal(p.end_epoch_ns, OFFSET_NS + 9);
}

static void end_that_was_not_seen_has_no_time(void **state)
{
	struct process_record r = { .flags = PROCESS_ENDED | PROCESS_END_UNSEEN };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_true(p.has_ended);
	assert_int_equal(p.end_epoch_ns, 0);
}

static void live_process_has_a_state_and_no_end(void **state)
{
	struct process_record r = { .pid = (uint32_t)getpid(),
				    .end_boot_ns = 9,
				    .wait_status = W_EXIT(3) };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_false(p.has_ended);
	assert_int_equal(p.state, 'R');
	assert_int_equal(p.end_epoch_ns, 0);
	assert_int_equal(p.exit_code, 0);
}

static void state_of_a_process_that_is_gone_is_not_known(void **state)
{
	struct process_record r = { .pid = NO_SUCH_PID };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_int_equal(p.state, 0);
}

static char state_read_back(uint16_t state)
{
	struct process_record r = { .pid = NO_SUCH_PID, .state = state };

	return read_record(&r, NULL).state;
}

static void state_that_the_kernel_has_reported_needs_no_file(void **state)
{
	(void)state;
	assert_int_equal(state_read_back(STATE_READ), 'R');
	assert_int_equal(state_read_back(STATE_READ | 0x1), 'S');
	assert_int_equal(state_read_back(STATE_READ | 0x2001), 'S'); /* freezable */
	assert_int_equal(state_read_back(STATE_READ | 0x102), 'D');  /* killable */
	assert_int_equal(state_read_back(STATE_READ | 0x104), 'T');
	assert_int_equal(state_read_back(STATE_READ | 0x108), 't');
	assert_int_equal(state_read_back(STATE_READ | 0x80 | 0x20), 'Z');
	assert_int_equal(state_read_back(STATE_READ | 0x402), 'I');
	assert_int_equal(state_read_back(STATE_READ | 0x1000), 'D'); /* waits for a lock */
	assert_int_equal(state_read_back(STATE_READ | 0x8001), 'D'); /* frozen */
}

static void peak_is_in_bytes_and_exact(void **state)
{
	struct process_record r = { .rss_peak_pages = 100 };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_true(p.has_rss_peak);
	assert_true(p.rss_peak_exact);
	assert_int_equal(p.rss_peak_bytes, pages(100));
}

static void peak_that_is_an_upper_bound_is_marked(void **state)
{
	struct process_record r = { .rss_peak_pages = 100, .flags = PROCESS_PEAK_UPPER_BOUND };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_true(p.has_rss_peak);
	assert_false(p.rss_peak_exact);
}

static void peak_of_a_live_process_is_that_of_the_drain_where_larger(void **state)
{
	struct process_record r = { .rss_peak_pages = 100 };
	struct drain_row larger = { .mm = 1, .peak_pages = 200 }, smaller = { .peak_pages = 50 };
	struct process grown, shrunk;

	(void)state;
	grown = read_record(&r, &larger);
	shrunk = read_record(&r, &smaller);
	assert_int_equal(grown.rss_peak_bytes, pages(200));
	assert_int_equal(shrunk.rss_peak_bytes, pages(100));
}

static void peak_that_was_not_read_is_absent(void **state)
{
	struct process_record r = { .rss_peak_pages = 0 };
	struct process p;

	(void)state;
	p = read_record(&r, NULL);
	assert_false(p.has_rss_peak);
}

static void peak_is_absent_where_memory_was_not_asked_for(void **state)
{
	struct process_record r = { .rss_peak_pages = 100 };
	struct metric_set none = { { 0 } };
	struct images images;
	struct process p;

	(void)state;
	images_init(&images);
	record_read(&p, &r, NULL, &images, &none, OFFSET_NS);
	images_done(&images);
	assert_false(p.has_rss_peak);
	assert_memory_equal(&p.have, &none, sizeof(none));
}

static void counters_are_those_of_the_process(void **state)
{
	struct process_record r = { .user = 30, .system = 12 };
	struct process p;

	(void)state;
	r.counters.cpu = 42;
	r.counters.cancelled_write = 7;
	p = read_record(&r, NULL);
	assert_int_equal(p.value[M_cpu], 42);
	assert_int_equal(p.value[M_user], 30);
	assert_int_equal(p.value[M_system], 12);
	assert_int_equal(p.value[M_cancelled_write], 7);
	assert_true(metric_has(&p.have, M_majflt));
	assert_false(metric_has(&p.have, M_forks));
	assert_false(metric_has(&p.have, M_rss));
}

static void counters_that_were_not_read_are_absent(void **state)
{
	const struct process_record r = { .pid = NO_SUCH_PID,
					  .flags = PROCESS_ENDED | PROCESS_UNREAD };
	struct process p = read_record(&r, NULL);

	(void)state;
	for (int i = 0; i < NR_METRICS; i++)
		assert_false(metric_has(&p.have, (enum metric_id)i));
	assert_false(p.has_rss_peak);
	assert_true(p.has_ended);
}

static void image_gives_path_and_arguments(void **state)
{
	struct process_record r = { .image = 5, .flags = PROCESS_ENDED };
	struct exec_event e = { .image = 5, .path_bytes = 7, .args_bytes = 6 };
	struct metric_set all;
	struct images images;
	struct process p;

	(void)state;
	metric_set_all(&all);
	images_init(&images);
	memcpy(e.text, "cc\0bin\0cc\0-c", 13);
	images_add(&images, &e, 1);
	record_read(&p, &r, NULL, &images, &all, OFFSET_NS);
	assert_string_equal(p.exe, "/bin/cc");
	assert_int_equal(p.args_length, 6);
	assert_memory_equal(p.args, "cc\0-c", 6);
	images_done(&images);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_identity_of_the_process_is_copied),
		cmocka_unit_test(exit_code_is_the_high_byte_of_the_status),
		cmocka_unit_test(largest_exit_code_is_no_signal),
		cmocka_unit_test(signal_is_the_low_bits_of_the_status),
		cmocka_unit_test(dumped_core_does_not_change_the_signal),
		cmocka_unit_test(real_time_signal_is_a_signal),
		cmocka_unit_test(times_move_from_boot_to_epoch),
		cmocka_unit_test(end_that_was_not_seen_has_no_time),
		cmocka_unit_test(live_process_has_a_state_and_no_end),
		cmocka_unit_test(state_of_a_process_that_is_gone_is_not_known),
		cmocka_unit_test(state_that_the_kernel_has_reported_needs_no_file),
		cmocka_unit_test(peak_is_in_bytes_and_exact),
		cmocka_unit_test(peak_that_is_an_upper_bound_is_marked),
		cmocka_unit_test(peak_of_a_live_process_is_that_of_the_drain_where_larger),
		cmocka_unit_test(peak_that_was_not_read_is_absent),
		cmocka_unit_test(peak_is_absent_where_memory_was_not_asked_for),
		cmocka_unit_test(counters_are_those_of_the_process),
		cmocka_unit_test(counters_that_were_not_read_are_absent),
		cmocka_unit_test(image_gives_path_and_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

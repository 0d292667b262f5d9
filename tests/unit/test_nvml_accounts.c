// SPDX-License-Identifier: BSD-2-Clause
/* Processes that have ended, as the accounting of NVIDIA's driver reports them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "nvml_fixture.h"

#define ON "gpu GPU-a\nmemory 1 2\naccounting on\n"
#define START_US (clock_ns(CLOCK_REALTIME) / 1000)

static void account_script(struct fixture *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void account_script(struct fixture *f, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	script(f, text);
}

static void processes_that_had_ended_before_are_left_out(void **state)
{
	struct fixture *f = *state;

	script(f, ON);
	account_script(f, ON "account 5 %llu 100 50 10 4096\n",
		       (unsigned long long)START_US + 60000000);
	assert_int_equal(nvml_open(&f->nvml, f->why, sizeof(f->why)), 0);
	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 70; i++)
		assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 0);
}

static void a_process_that_has_ended_is_stored_once(void **state)
{
	struct fixture *f = *state;
	const unsigned long long start = START_US;
	const struct gpu_ended *e = &f->table->ended[0];

	nvml_opens(f, GPU_B ON);
	account_script(f, GPU_B ON "account 5 %llu running 50 10 4096\n", start);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 0);
	account_script(f, GPU_B ON "account 5 %llu 3000 50 10 4096\n", start);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
	assert_int_equal(e->serial, 1);
	assert_int_equal(e->pid, 5);
	assert_int_equal(e->device, 1);
	assert_int_equal(e->has, GPU_BUSY | GPU_MEMORY_BUSY | GPU_MEMORY);
	assert_int_equal(e->start_epoch_us, start);
	assert_int_equal(e->time_ns, 3 * S);
	assert_int_equal(e->busy_ns, 3 * S / 2);
	assert_int_equal(e->memory_busy_ns, 3 * S / 10);
	assert_int_equal(e->memory_peak_bytes, 4096);
	for (int i = 0; i < 70; i++)
		assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
}

static void a_process_between_two_lists_is_stored(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, ON);
	pass_whole(f, S);
	account_script(f, ON "account 5 %llu 3 50 10 4096\n", (unsigned long long)START_US);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
}

static void a_pid_that_returns_is_stored_again(void **state)
{
	struct fixture *f = *state;
	const unsigned long long start = START_US;

	nvml_opens(f, ON);
	pass_whole(f, S);
	account_script(f, ON "account 5 %llu 3 50 10 4096\n", start);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
	account_script(f, ON "account 5 %llu 3 50 10 4096\n", start + 2000000);
	for (int i = 0; i < 70; i++)
		pass_whole(f, S);
	assert_int_equal(f->table->nr_ended, 2);
	assert_int_equal(f->table->ended[1].start_epoch_us, start + 2000000);
}

static void a_process_that_has_left_the_list_is_asked_for_at_once(void **state)
{
	struct fixture *f = *state;
	const unsigned long long start = START_US;

	nvml_opens(f, ON "process 5 6\n");
	account_script(f, ON "process 5 6\naccount 5 %llu running 50 10 4096\n", start);
	pass_whole(f, 2 * S);
	account_script(f, ON "account 5 %llu 7 50 10 4096\n", start);
	assert_int_equal(pass_whole(f, S / 10)->nr_ended, 1);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
}

static void one_that_was_never_in_a_list_of_accounts_is_asked_for_too(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, ON);
	pass_whole(f, S);
	script(f, ON "process 5 6\n");
	pass_whole(f, S / 10);
	account_script(f, ON "account 5 %llu 7 50 10 4096\n", (unsigned long long)START_US);
	assert_int_equal(pass_whole(f, S / 10)->nr_ended, 1);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
}

static void values_that_are_unknown_are_absent(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, ON);
	pass_whole(f, S);
	account_script(f, ON "account 5 %llu 1000 4294967295 101 18446744073709551615\n",
		       (unsigned long long)START_US);
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
	assert_int_equal(f->table->ended[0].has, 0);
	assert_int_equal(f->table->ended[0].time_ns, S);
}

static void times_that_cannot_be_do_not_wrap(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, ON);
	pass_whole(f, S);
	script(f, ON "account 5 18446744073709551615 18446744073709551615 100 100 1\n");
	assert_int_equal(pass_whole(f, 2 * S)->nr_ended, 1);
	assert_true(f->table->ended[0].busy_ns <= f->table->ended[0].time_ns);
	assert_true(f->table->ended[0].time_ns > UINT64_MAX / 2);
}

static void accounting_that_is_switched_on_later_is_found(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, "gpu GPU-a\nmemory 1 2\naccounting off\n");
	pass_whole(f, S);
	account_script(f, ON "account 5 %llu 3 50 10 4096\naccount 6 1000 3 50 10 4096\n",
		       (unsigned long long)START_US);
	assert_int_equal(pass_whole(f, 5 * S)->nr_ended, 0);
	pass_whole(f, 6 * S);
	assert_int_equal(f->table->nr_ended, 1); /* the other one had ended long before */
	assert_int_equal(f->table->ended[0].pid, 5);
}

static void many_accounts_are_read_in_parts(void **state)
{
	struct fixture *f = *state;
	const unsigned long long start = START_US;
	char *text = malloc(700 * 64), *at = text;
	uint64_t next_ns;

	assert_non_null(text);
	nvml_opens(f, ON);
	pass_whole(f, S);
	at += sprintf(at, "%s", ON);
	for (int pid = 1; pid <= 600; pid++)
		at += sprintf(at, "account %d %llu 3 50 10 %d\n", pid, start, pid * 10);
	script(f, text);
	free(text);
	pass_after(f, 2 * S);
	for (int i = 0; i < 10; i++)
		assert_true(nvml_step(f->nvml, f->now_ns, &next_ns));
	assert_in_range(pass_after(f, 0)->nr_ended, 1, 200);
	steps_make(f);
	pass_after(f, 0);
	assert_int_equal(f->table->nr_ended, 600);
	for (uint32_t serial = 600; serial > 600 - MAX_GPU_ENDED; serial--) {
		const struct gpu_ended *e = &f->table->ended[(serial - 1) % MAX_GPU_ENDED];

		assert_int_equal(e->serial, serial);
		assert_int_equal(e->pid, serial);
		assert_int_equal(e->memory_peak_bytes, serial * 10);
	}
}

#define nvml_test(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		nvml_test(processes_that_had_ended_before_are_left_out),
		nvml_test(a_process_that_has_ended_is_stored_once),
		nvml_test(a_process_between_two_lists_is_stored),
		nvml_test(a_pid_that_returns_is_stored_again),
		nvml_test(a_process_that_has_left_the_list_is_asked_for_at_once),
		nvml_test(one_that_was_never_in_a_list_of_accounts_is_asked_for_too),
		nvml_test(values_that_are_unknown_are_absent),
		nvml_test(times_that_cannot_be_do_not_wrap),
		nvml_test(accounting_that_is_switched_on_later_is_found),
		nvml_test(many_accounts_are_read_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

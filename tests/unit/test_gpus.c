// SPDX-License-Identifier: BSD-2-Clause
/* Use of GPUs by the processes of a tally, from passes that are made here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"
#include "measure/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024 * 1024ULL)
#define SECOND NSEC_PER_SEC

struct desk {
	struct gpu_desk gpus;
	struct gpu_tally tally;
	struct row_list rows;
	struct drain_row row[4];
	const struct drain_row *listed[4];
	struct rows all;
	struct sample smp;
	struct metric_set usable;
	uint64_t now_ns;
};

static int desk_open(void **state)
{
	struct desk *t = calloc(1, sizeof(*t));

	assert_int_equal(gpu_desk_make(&t->gpus, SECOND), 0);
	metric_set_all(&t->usable);
	t->rows.all = t->listed;
	t->all.all = t->row;
	t->now_ns = 100 * SECOND;
	*state = t;
	return 0;
}

static int desk_close(void **state)
{
	struct desk *t = *state;

	gpu_tally_done(&t->tally);
	gpu_desk_done(&t->gpus);
	sample_reset(&t->smp);
	free(t);
	return 0;
}

/* The tally has a process @pid from now on. */
static void process_add(struct desk *t, uint32_t pid, uint64_t serial)
{
	const size_t n = t->rows.nr++;

	t->row[n] = (struct drain_row){ .pid = pid, .serial = serial };
	t->listed[n] = &t->row[n];
	t->all.nr = t->rows.nr;
}

static struct gpu_device *device_add(struct desk *t, const char *name)
{
	struct gpu_device *d = &t->gpus.next->devices[t->gpus.next->nr_devices++];

	*d = (struct gpu_device){ .has = GPU_USES | GPU_BUSY | GPU_MEMORY | GPU_POWER | GPU_ENERGY |
					 GPU_CLOCK,
				  .busy_milli = 500,
				  .memory_bytes = 900 * MIB,
				  .power_mw = 300000,
				  .clock_hz = 1980000000 };
	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->driver, sizeof(d->driver), "nvidia");
	return d;
}

static struct gpu_use *use_add(struct desk *t, uint32_t pid, uint32_t device, uint64_t busy_ns)
{
	struct gpu_use *u = gpu_table_add_use(t->gpus.next);

	*u = (struct gpu_use){ .pid = pid,
			       .device = device,
			       .has = GPU_BUSY | GPU_MEMORY | GPU_MEMORY_BUSY,
			       .memory_bytes = 100 * MIB,
			       .busy_ns = busy_ns,
			       .busy_at_ns = busy_ns ? t->now_ns : 0,
			       .seen_ns = 100 * SECOND };
	return u;
}

/* A drain a second later, with the pass that was made. */
static void drain(struct desk *t, bool is_new)
{
	if (is_new)
		t->gpus.next->pass_ns = t->now_ns;
	gpu_desk_drain(&t->gpus, is_new, &t->all, t->now_ns);
	assert_int_equal(gpu_tally_drain(&t->tally, &t->gpus, &t->rows), 0);
	sample_reset(&t->smp);
	assert_int_equal(gpu_tally_put(&t->tally, &t->gpus, &t->usable, 10 * SECOND, true, &t->smp),
			 0);
	t->now_ns += SECOND;
	if (is_new)
		t->gpus.next->nr_devices = t->gpus.next->nr_uses = 0;
}

static void assert_value(const struct desk *t, enum metric_id id, uint64_t value)
{
	assert_true(sample_has(&t->smp, id));
	assert_int_equal(t->smp.value[id], value);
}

static void only_the_processes_of_the_tally_count(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 3; i++) {
		device_add(t, "GPU-a");
		use_add(t, 10, 0, i * SECOND / 4);
		use_add(t, 11, 0, i * SECOND / 2)->memory_bytes = 800 * MIB;
		drain(t, true);
	}
	assert_value(t, M_gpu, SECOND / 2);
	assert_value(t, M_gpus_used, 250);
	assert_value(t, M_gpus_held, 1);
	assert_value(t, M_gpus_idle, 0);
	assert_value(t, M_gpu_memory, 100 * MIB);
	assert_value(t, M_gpu_device_memory, 900 * MIB);
	assert_value(t, M_gpu_power, 300000);
}

static void a_drain_without_a_new_pass_adds_nothing(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a")->energy_uj = i * 300;
		use_add(t, 10, 0, i * SECOND / 4);
		drain(t, true);
	}
	drain(t, false);
	assert_value(t, M_gpu, SECOND / 4);
	assert_value(t, M_gpus_used, 250);
	assert_value(t, M_gpu_energy, 300);
	assert_value(t, M_gpu_memory, 100 * MIB);
}

static void without_a_pass_for_long_nothing_is_known(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	device_add(t, "GPU-a");
	use_add(t, 10, 0, 0);
	drain(t, true);
	assert_true(sample_has(&t->smp, M_gpus_held));
	t->now_ns += 60 * SECOND;
	drain(t, false);
	for (int i = 0; i < NR_METRICS; i++)
		assert_false(sample_has(&t->smp, (enum metric_id)i));
	assert_int_equal(t->smp.nr_instances, 0);
}

static void several_devices_have_an_instance_each(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	process_add(t, 11, 2);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a");
		device_add(t, "GPU-b")->clock_hz = 1000;
		use_add(t, 10, 0, i * SECOND);
		use_add(t, 10, 1, i * SECOND / 10);
		use_add(t, 11, 1, i * SECOND / 10);
		drain(t, true);
	}
	assert_value(t, M_gpus_held, 2);
	assert_value(t, M_gpus_used, 1200);
	assert_value(t, M_gpu_clock, 1000);
	assert_value(t, M_gpu_memory, 300 * MIB);
	assert_int_equal(t->smp.nr_instances, 2);
	assert_string_equal(t->smp.instances[0].name, "GPU-a");
	assert_int_equal(t->smp.instances[0].value[M_gpu], SECOND);
	assert_int_equal(t->smp.instances[1].value[M_gpu], SECOND / 5);
	assert_int_equal(t->smp.instances[1].value[M_gpu_memory], 200 * MIB);
}

static void a_device_without_work_is_idle_after_the_given_time(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (int i = 0; i < 10; i++) {
		device_add(t, "GPU-a");
		use_add(t, 10, 0, 0);
		drain(t, true);
	}
	assert_value(t, M_gpus_idle, 0);
	assert_value(t, M_gpu_idle, 9 * SECOND);
	device_add(t, "GPU-a");
	use_add(t, 10, 0, 0);
	drain(t, true);
	assert_value(t, M_gpus_idle, 1);
	assert_value(t, M_gpu_idle, 10 * SECOND);
	device_add(t, "GPU-a");
	use_add(t, 10, 0, SECOND / 100);
	drain(t, true);
	assert_value(t, M_gpus_idle, 0);
	assert_value(t, M_gpu_idle, 10 * SECOND);
}

static void a_device_that_was_held_keeps_its_counters(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a")->energy_uj = i * 1000;
		use_add(t, 10, 0, i * SECOND / 2);
		drain(t, true);
	}
	device_add(t, "GPU-a")->energy_uj = 5000; /* of others, or of nobody */
	drain(t, true);
	assert_value(t, M_gpus_held, 0);
	assert_value(t, M_gpu, SECOND / 2);
	assert_value(t, M_gpu_energy, 1000);
	assert_false(sample_has(&t->smp, M_gpu_power));
}

static void a_whole_machine_has_the_devices_that_nobody_holds(void **state)
{
	struct desk *t = *state;

	t->tally.has_all = true;
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a")->energy_uj = i * 1000;
		device_add(t, "GPU-b")->energy_uj = i * 500;
		drain(t, true);
	}
	assert_value(t, M_gpus_held, 0);
	assert_value(t, M_gpu_power, 600000);
	assert_value(t, M_gpu_energy, 1500);
}

static void a_device_that_is_lost_takes_nothing_from_the_counters(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a")->energy_uj = i * 1000;
		device_add(t, "GPU-b")->energy_uj = i * 500;
		use_add(t, 10, 0, 0);
		use_add(t, 10, 1, i * SECOND);
		drain(t, true);
	}
	device_add(t, "GPU-a")->energy_uj = 1000;
	device_add(t, "GPU-b")->has = 0;
	use_add(t, 10, 0, 0);
	drain(t, true);
	assert_value(t, M_gpus_held, 1);
	assert_value(t, M_gpu_energy, 1500);
	assert_value(t, M_gpu, SECOND);
}

/* As instances (MIG) for a user without rights. */
static void without_lists_of_processes_only_the_devices_are_known(void **state)
{
	struct desk *t = *state;

	t->tally.has_all = true;
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "MIG-a")->has = GPU_POWER;
		drain(t, true);
	}
	assert_value(t, M_gpu_power, 300000);
	assert_false(sample_has(&t->smp, M_gpus_held));
	assert_false(sample_has(&t->smp, M_gpu));
}

static void unknown_parts_make_the_sum_unknown(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	process_add(t, 11, 2);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a");
		use_add(t, 10, 0, i * SECOND);
		use_add(t, 11, 0, 0)->has = 0;
		drain(t, true);
	}
	assert_value(t, M_gpus_held, 1);
	assert_false(sample_has(&t->smp, M_gpu));
	assert_false(sample_has(&t->smp, M_gpu_memory));
	assert_false(sample_has(&t->smp, M_gpus_used));
	assert_value(t, M_gpu_power, 300000);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	struct gpu_used used;
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a");
		use_add(t, 10, 0, i * SECOND / 2);
		drain(t, true);
	}
	t->row[0].serial = 7;
	device_add(t, "GPU-a");
	use_add(t, 10, 0, SECOND / 4); /* a new pair at the reader: its counter began at 0 */
	drain(t, true);
	assert_true(gpu_pasts_sum(&t->gpus.pasts, 1, &used));
	assert_int_equal(used.busy_ns, SECOND / 2);
	assert_true(gpu_pasts_sum(&t->gpus.pasts, 7, &used));
	assert_int_equal(used.busy_ns, 0);
	assert_false(gpu_pasts_sum(&t->gpus.pasts, 2, &used));
}

static void a_process_has_the_most_memory_of_all_its_devices(void **state)
{
	struct desk *t = *state;
	const uint64_t mib[] = { 10, 70, 30 };
	struct gpu_used used;

	process_add(t, 10, 1);
	for (size_t i = 0; i < 3; i++) {
		device_add(t, "GPU-a");
		device_add(t, "GPU-b");
		use_add(t, 10, 0, 0)->memory_bytes = mib[i] * MIB;
		use_add(t, 10, 1, 0)->memory_bytes = 5 * MIB;
		drain(t, true);
	}
	assert_true(gpu_pasts_sum(&t->gpus.pasts, 1, &used));
	assert_int_equal(used.memory_peak_bytes, 75 * MIB);
}

static void a_use_that_a_pass_missed_is_not_counted_again(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 4; i++) {
		device_add(t, "GPU-a");
		if (i != 2)
			use_add(t, 10, 0, i * SECOND / 2)->seen_ns = 100 * SECOND;
		drain(t, true);
	}
	assert_value(t, M_gpu, SECOND / 2);
}

/* As a device that does not answer at one pass, where an open descriptor is all that is seen. */
static void a_use_without_counters_is_not_counted_again(void **state)
{
	struct desk *t = *state;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 4; i++) {
		device_add(t, "GPU-a");
		if (i == 2)
			use_add(t, 10, 0, 0)->has = 0;
		else
			use_add(t, 10, 0, i * SECOND / 2)->seen_ns = 100 * SECOND;
		drain(t, true);
	}
	assert_value(t, M_gpu, SECOND / 2);
}

static void work_that_is_told_once_a_second_is_not_idle_between(void **state)
{
	struct desk *t = *state;
	uint64_t told = 0;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 40; i++) {
		struct gpu_use *u;

		if (i % 10 == 9)
			told = (i + 1) * SECOND / 10;
		device_add(t, "GPU-a");
		u = use_add(t, 10, 0, told);
		u->busy_at_ns = told ? 100 * SECOND + told - SECOND / 10 : 0;
		drain(t, true);
		t->now_ns -= SECOND - SECOND / 10;
	}
	assert_value(t, M_gpu_idle, 0);
	assert_value(t, M_gpu, 4 * SECOND);
	assert_value(t, M_gpus_used, 1000);
}

static void a_process_that_has_closed_its_device_keeps_what_it_used(void **state)
{
	struct desk *t = *state;
	struct gpu_used used;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 120; i++) {
		device_add(t, "GPU-a");
		if (i < 2)
			use_add(t, 10, 0, i * SECOND / 2);
		drain(t, true);
	}
	assert_true(gpu_pasts_sum(&t->gpus.pasts, 1, &used));
	assert_int_equal(used.busy_ns, SECOND / 2);
	t->rows.nr = t->all.nr = 0;
	for (int i = 0; i < 61; i++) {
		device_add(t, "GPU-a");
		drain(t, true);
	}
	assert_false(gpu_pasts_sum(&t->gpus.pasts, 1, &used));
}

static void account_add(struct desk *t, uint32_t pid, uint64_t busy_ns, uint64_t mib)
{
	struct gpu_table *next = t->gpus.next;
	struct gpu_ended *e = &next->ended[next->nr_ended++ % MAX_GPU_ENDED];

	*e = (struct gpu_ended){ .serial = next->nr_ended,
				 .pid = pid,
				 .has = GPU_BUSY | GPU_MEMORY,
				 .busy_ns = busy_ns,
				 .memory_peak_bytes = mib * MIB };
}

static void the_account_of_an_ended_process_adds_what_no_pass_saw(void **state)
{
	struct desk *t = *state;
	const struct process_record r = { .serial = 1, .tgid = 10, .flags = PROCESS_ENDED };
	struct process_record told;
	struct gpu_used used;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a")->has |= GPU_ACCOUNTS;
		use_add(t, 10, 0, i * SECOND / 2);
		drain(t, true);
	}
	assert_true(gpu_desk_keep(&t->gpus, &r, t->now_ns));
	assert_false(gpu_desk_next_leaver(&t->gpus, t->now_ns, &told));
	t->rows.nr = t->all.nr = 0;
	device_add(t, "GPU-a")->has |= GPU_ACCOUNTS;
	account_add(t, 10, SECOND, 300);
	drain(t, true);
	assert_true(gpu_desk_next_leaver(&t->gpus, t->now_ns, &told));
	assert_int_equal(told.serial, 1);
	assert_int_equal(gpu_tally_end(&t->tally, &t->gpus, 1), 300 * MIB);
	assert_true(gpu_pasts_sum(&t->gpus.pasts, 1, &used));
	assert_int_equal(used.busy_ns, SECOND);
	assert_int_equal(used.memory_peak_bytes, 300 * MIB);
	drain(t, false);
	assert_value(t, M_gpu, SECOND);
}

static void a_record_does_not_wait_for_ever_nor_without_accounting(void **state)
{
	struct desk *t = *state;
	const struct process_record r = { .serial = 1, .tgid = 10, .flags = PROCESS_ENDED },
				    other = { .serial = 9, .tgid = 90, .flags = PROCESS_ENDED };
	struct process_record told;

	process_add(t, 10, 1);
	device_add(t, "GPU-a");
	use_add(t, 10, 0, 0);
	drain(t, true);
	assert_false(gpu_desk_keep(&t->gpus, &r, t->now_ns));
	device_add(t, "GPU-a")->has |= GPU_ACCOUNTS;
	use_add(t, 10, 0, 0);
	drain(t, true);
	assert_false(gpu_desk_keep(&t->gpus, &other, t->now_ns));
	assert_true(gpu_desk_keep(&t->gpus, &r, t->now_ns));
	assert_false(gpu_desk_next_leaver(&t->gpus, t->now_ns + SECOND, &told));
	assert_true(gpu_desk_next_leaver(&t->gpus, t->now_ns + 3 * SECOND, &told));
	assert_false(gpu_desk_next_leaver(&t->gpus, UINT64_MAX, &told));
}

static void pids_of_another_namespace_are_not_ours(void **state)
{
	struct desk *t = *state;

	t->gpus.is_foreign = true;
	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a");
		use_add(t, 10, 0, i * SECOND);
		drain(t, true);
	}
	assert_false(sample_has(&t->smp, M_gpus_held));
	snprintf(device_add(t, "0000:03:00.0")->driver, 16, "amdgpu");
	use_add(t, 10, 0, SECOND);
	drain(t, true);
	assert_value(t, M_gpus_held, 1);
}

static void a_counter_that_fell_adds_nothing(void **state)
{
	struct desk *t = *state;
	const uint64_t busy[] = { 0, SECOND / 2, SECOND / 4, SECOND / 2 };

	process_add(t, 10, 1);
	for (size_t i = 0; i < 4; i++) {
		device_add(t, "GPU-a")->energy_uj = busy[i];
		use_add(t, 10, 0, busy[i]);
		drain(t, true);
	}
	assert_value(t, M_gpu, SECOND / 2 + SECOND / 4);
	assert_value(t, M_gpu_energy, SECOND / 2 + SECOND / 4);
}

/* As the next agent does, whose reader may list the devices in another order. */
static void counters_go_on_in_another_process(void **state)
{
	struct desk *t = *state;
	struct gpu_tally next = { 0 };
	struct gpu_desk other;
	struct gpu_used used;
	struct jsonw j = { 0 };
	json_t *kept;

	process_add(t, 10, 1);
	for (uint64_t i = 0; i < 2; i++) {
		device_add(t, "GPU-a");
		device_add(t, "GPU-b");
		use_add(t, 10, 1, i * SECOND / 2);
		drain(t, true);
	}
	jsonw_object(&j, NULL);
	gpu_tally_keep(&t->tally, &t->gpus, &j);
	gpu_desk_keep_pasts(&t->gpus, &j);
	jsonw_object_end(&j);
	kept = json_loadb(j.text, j.used, 0, NULL);
	assert_int_equal(gpu_desk_make(&other, SECOND), 0);
	assert_int_equal(gpu_tally_resume(&next, &other, json_object_get(kept, "gpus")), 0);
	gpu_desk_resume_pasts(&other, kept);
	assert_true(gpu_pasts_sum(&other.pasts, 1, &used));
	assert_int_equal(used.busy_ns, SECOND / 2);
	assert_int_equal(used.memory_peak_bytes, 100 * MIB);
	assert_int_equal(next.nr, 1);
	assert_string_equal(other.known[next.all[0].device].now.name, "GPU-b");
	assert_int_equal(next.all[0].busy_ns, SECOND / 2);
	json_decref(kept);
	jsonw_done(&j);
	gpu_tally_done(&next);
	gpu_desk_done(&other);
}

#define DESK_TEST(t) cmocka_unit_test_setup_teardown(t, desk_open, desk_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(only_the_processes_of_the_tally_count),
		DESK_TEST(a_drain_without_a_new_pass_adds_nothing),
		DESK_TEST(without_a_pass_for_long_nothing_is_known),
		DESK_TEST(several_devices_have_an_instance_each),
		DESK_TEST(a_device_without_work_is_idle_after_the_given_time),
		DESK_TEST(a_device_that_was_held_keeps_its_counters),
		DESK_TEST(a_whole_machine_has_the_devices_that_nobody_holds),
		DESK_TEST(a_device_that_is_lost_takes_nothing_from_the_counters),
		DESK_TEST(without_lists_of_processes_only_the_devices_are_known),
		DESK_TEST(unknown_parts_make_the_sum_unknown),
		DESK_TEST(a_pid_that_is_used_again_is_another_process),
		DESK_TEST(a_process_has_the_most_memory_of_all_its_devices),
		DESK_TEST(a_use_that_a_pass_missed_is_not_counted_again),
		DESK_TEST(a_use_without_counters_is_not_counted_again),
		DESK_TEST(work_that_is_told_once_a_second_is_not_idle_between),
		DESK_TEST(a_process_that_has_closed_its_device_keeps_what_it_used),
		DESK_TEST(the_account_of_an_ended_process_adds_what_no_pass_saw),
		DESK_TEST(a_record_does_not_wait_for_ever_nor_without_accounting),
		DESK_TEST(pids_of_another_namespace_are_not_ours),
		DESK_TEST(a_counter_that_fell_adds_nothing),
		DESK_TEST(counters_go_on_in_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Devices that NVIDIA's library reports, as the stub of it is told to: their values, loss and
 * return. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "nvml_fixture.h"

#define MOST_VALUES (GPU_BUSY | GPU_MEMORY_BUSY | GPU_MEMORY | GPU_POWER | GPU_CLOCK | GPU_THROTTLE)

static int old_fixture_make(void **state)
{
	return fixture_make_with(state, "nvml-old");
}

static void without_the_library_it_is_not_installed(void **state)
{
	void *real = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	struct nvml *n = NULL;
	char why[192];

	(void)state;
	if (real) {
		print_message("skipped: this machine has the library\n");
		dlclose(real);
		skip();
	}
	assert_int_equal(nvml_open(&n, why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "libnvidia-ml.so.1 is not installed");
	assert_null(n);
}

static void opening_fails(struct fixture *f, const char *text, int err, const char *why)
{
	script(f, text);
	assert_int_equal(nvml_open(&f->nvml, f->why, sizeof(f->why)), err);
	assert_string_equal(f->why, why);
	assert_null(f->nvml);
}

static void opening_says_what_is_missing(void **state)
{
	struct fixture *f = *state;

	opening_fails(f, "result nvmlInit_v2 9\n", -ENODEV, "no NVIDIA driver is loaded");
	opening_fails(f, "", -ENODEV, "the NVIDIA driver has no device");
	opening_fails(f, "result nvmlInit_v2 4\n", -EACCES, "the NVIDIA driver may not be used");
	opening_fails(f, "result nvmlInit_v2 18\n", -EPROTO,
		      "the NVIDIA driver and its library differ in version");
	opening_fails(f, "result nvmlInit_v2 999\n", -EIO,
		      "libnvidia-ml.so.1 cannot be initialized (code 999)");
	opening_fails(f, "result nvmlDeviceGetHandleByIndex_v2 4\n" GPU_A, -EACCES,
		      "the NVIDIA devices may not be used");
}

static void values_are_those_of_the_library(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, GPU_A "minor 3\n" GPU_B);
	d = device_of(pass_whole(f, S), "GPU-a");
	assert_non_null(d);
	assert_string_equal(d->model, "NVIDIA H200");
	assert_string_equal(d->driver, "nvidia");
	assert_int_equal(d->minor, 3);
	assert_int_equal(d->has, MOST_VALUES | GPU_ENERGY | GPU_ECC | GPU_XID | GPU_USES);
	assert_int_equal(d->busy_milli, 400);
	assert_int_equal(d->memory_busy_milli, 200);
	assert_int_equal(d->memory_bytes, MIB);
	assert_int_equal(d->memory_total_bytes, 16 * MIB);
	assert_int_equal(d->power_mw, 350000);
	assert_int_equal(d->clock_hz, 1980000000);
	assert_int_equal(d->energy_uj, 0);
	assert_int_equal(d->ecc_errors, 0);
	assert_int_equal(f->table->nr_devices, 2);
	assert_string_equal(f->table->why, "");
}

static void values_that_are_not_supported_are_absent(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, GPU_B);
	d = device_of(pass_whole(f, S), "GPU-b");
	assert_int_equal(d->has, GPU_BUSY | GPU_MEMORY_BUSY | GPU_MEMORY | GPU_XID | GPU_USES);
	assert_string_equal(f->table->why, "");
}

static void values_that_cannot_be_are_absent(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, "gpu GPU-a\nutilization 101 4000000000\nmemory 2 1\npower 4294967295\n"
		      "clock 1\n");
	d = device_of(pass_after(f, S), "GPU-a");
	assert_int_equal(d->has, GPU_CLOCK | GPU_XID | GPU_USES);
}

static void functions_that_fail_leave_the_other_values(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, GPU_A "missing nvmlDeviceGetUtilizationRates\n"
			    "missing nvmlDeviceGetMemoryInfo_v2\n"
			    "missing nvmlDeviceGetCurrentClocksEventReasons\n"
			    "missing nvmlEventSetCreate\n"
			    "missing nvmlDeviceGetTotalEnergyConsumption\n"
			    "result nvmlDeviceGetPowerUsage 999\n");
	d = device_of(pass_whole(f, S), "GPU-a");
	assert_int_equal(d->has, GPU_MEMORY | GPU_CLOCK | GPU_THROTTLE | GPU_ECC | GPU_USES);
	assert_int_equal(d->memory_bytes, MIB);
}

static void an_old_library_gives_what_it_has(void **state)
{
	struct fixture *f = *state;
	const struct gpu_use *use;

	nvml_opens(f, GPU_A "reasons 0x4\nprocess 77 5000\nprocess 78 -\n");
	pass_whole(f, S);
	assert_int_equal(device_of(f->table, "GPU-a")->has,
			 MOST_VALUES | GPU_ENERGY | GPU_ECC | GPU_XID | GPU_USES);
	assert_int_equal(device_of(f->table, "GPU-a")->throttled_ns, 0);
	assert_int_equal(f->table->nr_uses, 2);
	use = use_of(f->table, "GPU-a", 77);
	assert_int_equal(use->memory_bytes, 5000);
	assert_true(use->has & GPU_MEMORY);
	assert_false(use_of(f->table, "GPU-a", 78)->has & GPU_MEMORY);
}

static void texts_are_printable_and_have_an_end(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, "gpu GPU-\033[2J\xff-0123456789012345678901234567890123456789012345678901 "
		      "A\001B0123456789012345678901234567890123456789012345678901234567890\n"
		      "clock 1\n");
	d = &pass_after(f, S)->devices[0];
	assert_string_equal(d->name, "GPU-?[2J?-0123456789012345678901234567890123456");
	assert_string_equal(d->model, "A?B01234567890123456789012345678901234567890123");
}

static void a_device_is_throttled_while_heat_or_power_slows_it_down(void **state)
{
	static const char *const reasons[] = { "0x4", "0x8", "0x20", "0x40", "0x80" };
	struct fixture *f = *state;
	char text[256];

	nvml_opens(f, GPU_A "reasons 0x101\n");
	pass_after(f, S);
	pass_after(f, S);
	assert_int_equal(f->table->devices[0].throttled_ns, 0);
	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), GPU_A "reasons %s\n", reasons[i]);
		script(f, text);
		pass_after(f, S / 2);
		assert_int_equal(f->table->devices[0].throttled_ns, (i + 1) * S / 2);
	}
	script(f, GPU_A "result nvmlDeviceGetCurrentClocksEventReasons 999\n");
	pass_after(f, S);
	assert_false(f->table->devices[0].has & GPU_THROTTLE);
	script(f, GPU_A "reasons 0x4\n"); /* what was between is not known */
	pass_after(f, S);
	assert_int_equal(f->table->devices[0].throttled_ns, 5 * S / 2);
}

static void energy_counts_from_opening_on_and_never_falls(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A "energy 1000\n");
	script(f, GPU_A "energy 3500\n");
	assert_int_equal(pass_whole(f, S / 2)->devices[0].energy_uj, 0); /* not due yet */
	assert_int_equal(pass_whole(f, 4 * S)->devices[0].energy_uj, 2500000);
	script(f, GPU_A "energy 100\n"); /* another driver, or 32 bits */
	assert_int_equal(pass_whole(f, 6 * S)->devices[0].energy_uj, 2500000);
	script(f, GPU_A "energy 150\n");
	assert_int_equal(pass_whole(f, 6 * S)->devices[0].energy_uj, 2550000);
	script(f, GPU_A "energy 18446744073709551615\n"); /* no device has used that */
	assert_int_equal(pass_whole(f, 6 * S)->devices[0].energy_uj, 2550000);
	script(f, GPU_A "energy 1\nresult nvmlDeviceGetTotalEnergyConsumption 999\n");
	assert_int_equal(pass_whole(f, 6 * S)->devices[0].energy_uj, 2550000);
}

static void ecc_errors_count_from_the_first_read_on(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A);
	assert_int_equal(pass_whole(f, S)->devices[0].ecc_errors, 0);
	script(f, GPU_A "ecc 5\n");
	assert_int_equal(pass_whole(f, 11 * S)->devices[0].ecc_errors, 3);
	script(f, GPU_A "ecc 1\n");
	assert_int_equal(pass_whole(f, 11 * S)->devices[0].ecc_errors, 3);
	script(f, GPU_A "ecc 2\n");
	assert_int_equal(pass_whole(f, 11 * S)->devices[0].ecc_errors, 4);
}

static void critical_errors_are_counted_at_their_device(void **state)
{
	struct fixture *f = *state;
	char text[4096] = GPU_A GPU_B;

	nvml_opens(f, GPU_A GPU_B);
	pass_whole(f, S);
	assert_int_equal(f->table->devices[1].xid_errors, 0);
	script(f, GPU_A GPU_B "xid 31\nxid 79\n");
	pass_whole(f, 2 * S);
	assert_int_equal(f->table->devices[1].xid_errors, 2);
	assert_int_equal(f->table->devices[1].last_xid, 79);
	assert_int_equal(f->table->devices[0].xid_errors, 0);
	for (int i = 0; i < 40; i++) /* many are read in parts: a second has an end */
		strcat(text, "xid 48\n");
	script(f, text);
	assert_int_equal(pass_whole(f, 2 * S)->devices[1].xid_errors, 18);
	assert_int_equal(pass_whole(f, 2 * S)->devices[1].xid_errors, 34);
	assert_int_equal(pass_whole(f, 2 * S)->devices[1].xid_errors, 40);
}

static void a_lost_device_keeps_its_place_and_may_return(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B);
	pass_whole(f, S);
	script(f, GPU_A "energy 2000\n" GPU_B);
	pass_whole(f, 6 * S);
	assert_int_equal(f->table->devices[0].energy_uj, 1000000);
	script(f, GPU_A "result * 15\n" GPU_B);
	pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 2);
	assert_string_equal(f->table->devices[0].name, "GPU-a");
	assert_int_equal(f->table->devices[0].has, 0);
	assert_true(f->table->devices[1].has & GPU_MEMORY);
	assert_string_equal(f->table->why,
			    "1 of 2 NVIDIA devices cannot be read: the driver has lost the GPU");
	script(f, GPU_A GPU_B);
	assert_int_equal(pass_whole(f, S)->devices[0].has, 0); /* not tried again yet */
	pass_whole(f, 10 * S);
	pass_whole(f, S);
	assert_true(f->table->devices[0].has & GPU_MEMORY);
	assert_true(f->table->devices[0].has & GPU_XID);
	assert_int_equal(f->table->devices[0].energy_uj, 1000000);
	assert_string_equal(f->table->why, "");
}

static void a_device_that_is_still_lost_is_tried_every_ten_seconds(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B);
	script(f, GPU_A "result * 15\n" GPU_B);
	for (int i = 0; i < 40; i++)
		assert_int_equal(pass_whole(f, S)->devices[0].has, 0);
	assert_string_equal(f->table->why,
			    "1 of 2 NVIDIA devices cannot be read: the driver has lost the GPU");
	assert_true(f->table->devices[1].has & GPU_MEMORY);
	script(f, GPU_A GPU_B);
	for (int i = 0; i < 11; i++)
		pass_whole(f, S);
	assert_true(f->table->devices[0].has & GPU_MEMORY);
}

static void a_driver_that_was_unloaded_is_initialized_again(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B);
	pass_whole(f, S);
	script(f, "result * 1\nresult nvmlInit_v2 9\n" GPU_A GPU_B);
	for (int i = 0; i < 25; i++)
		pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 2);
	assert_int_equal(f->table->devices[0].has | f->table->devices[1].has, 0);
	assert_string_equal(f->table->why, "2 of 2 NVIDIA devices cannot be read: the driver is no "
					   "longer loaded");
	script(f, GPU_B GPU_A); /* in another order */
	for (int i = 0; i < 12; i++)
		pass_whole(f, S);
	assert_string_equal(f->table->devices[0].name, "GPU-a");
	assert_int_equal(f->table->devices[0].memory_bytes, MIB);
	assert_true(f->table->devices[0].has & GPU_XID);
	assert_true(f->table->devices[1].has & GPU_MEMORY);
	assert_string_equal(f->table->why, "");
}

static void a_device_without_any_value_is_lost(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B);
	script(f, GPU_A "result * 999\n" GPU_B);
	pass_after(f, S);
	assert_int_equal(f->table->devices[0].has, 0);
	assert_string_equal(f->table->why,
			    "1 of 2 NVIDIA devices cannot be read: the driver reports an error");
}

static void a_device_that_is_gone_keeps_its_place(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B);
	script(f, GPU_B "result nvmlDeviceGetMemoryInfo_v2 15\n");
	for (int i = 0; i < 12; i++)
		pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 2);
	assert_int_equal(f->table->devices[0].has, 0);
	script(f, GPU_B "gpu GPU-c NVIDIA H200\nclock 5\n");
	for (int i = 0; i < 12; i++)
		pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 3);
	assert_int_equal(f->table->devices[2].clock_hz, 5000000);
}

static void a_device_that_may_not_be_used_is_reported(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A GPU_B "result nvmlDeviceGetHandleByIndex_v2 17\n");
	pass_after(f, S);
	assert_int_equal(f->table->nr_devices, 1);
	assert_string_equal(f->table->why, "1 NVIDIA device cannot be found: not permitted");
	script(f, GPU_A GPU_B);
	pass_whole(f, 11 * S);
	assert_int_equal(f->table->nr_devices, 2);
	assert_string_equal(f->table->why, "");
}

static void devices_that_have_no_room_are_counted(void **state)
{
	struct fixture *f = *state;
	char text[4096] = "";

	for (int i = 0; i < 70; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "gpu GPU-%d\nclock 1\n",
			 i);
	nvml_opens(f, text);
	pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, MAX_GPUS);
	assert_string_equal(f->table->why, "no room for 6 NVIDIA devices");
}

static void two_devices_of_one_name_are_one(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A "gpu GPU-a0\nmemory 1 2\ninstance GPU-a 0 0\nmemory 5 6\n");
	pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 2);
}

static void a_pass_appends_to_what_is_in_the_table(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, GPU_A "process 5 6\n" GPU_B);
	memset(f->table, 0, sizeof(*f->table));
	f->table->nr_devices = MAX_GPUS - 1;
	f->table->nr_uses = 3;
	strcpy(f->table->why, "before");
	script(f, GPU_A "process 5 6\n" GPU_B "result * 15\n");
	nvml_pass(f->nvml, f->table, f->now_ns + S);
	assert_int_equal(f->table->nr_devices, MAX_GPUS);
	assert_string_equal(f->table->devices[MAX_GPUS - 1].name, "GPU-a");
	assert_int_equal(f->table->nr_uses, 4);
	assert_int_equal(f->table->uses[3].device, MAX_GPUS - 1);
	assert_string_equal(f->table->why, "before; 1 of 2 NVIDIA devices cannot be read: the "
					   "driver has lost the GPU");
}

static void closing_nothing_is_allowed(void **state)
{
	(void)state;
	nvml_close(NULL);
}

#define nvml_test(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_library_it_is_not_installed),
		cmocka_unit_test(closing_nothing_is_allowed),
		nvml_test(opening_says_what_is_missing),
		nvml_test(values_are_those_of_the_library),
		nvml_test(values_that_are_not_supported_are_absent),
		nvml_test(values_that_cannot_be_are_absent),
		nvml_test(functions_that_fail_leave_the_other_values),
		cmocka_unit_test_setup_teardown(an_old_library_gives_what_it_has, old_fixture_make,
						fixture_free),
		nvml_test(texts_are_printable_and_have_an_end),
		nvml_test(a_device_is_throttled_while_heat_or_power_slows_it_down),
		nvml_test(energy_counts_from_opening_on_and_never_falls),
		nvml_test(ecc_errors_count_from_the_first_read_on),
		nvml_test(critical_errors_are_counted_at_their_device),
		nvml_test(a_lost_device_keeps_its_place_and_may_return),
		nvml_test(a_device_that_is_still_lost_is_tried_every_ten_seconds),
		nvml_test(a_driver_that_was_unloaded_is_initialized_again),
		nvml_test(a_device_without_any_value_is_lost),
		nvml_test(a_device_that_is_gone_keeps_its_place),
		nvml_test(a_device_that_may_not_be_used_is_reported),
		nvml_test(devices_that_have_no_room_are_counted),
		nvml_test(two_devices_of_one_name_are_one),
		nvml_test(a_pass_appends_to_what_is_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

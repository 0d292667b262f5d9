// SPDX-License-Identifier: BSD-2-Clause
/* What sysfs has of whole GPUs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drm_fixture.h"

#define DEVICE "%s/devices/0000:03:00.0/"
#define SENSORS DEVICE "hwmon/hwmon4/"

static const struct gpu_device *only_device(struct machine *m)
{
	PASS(m, SECOND, 0);
	assert_int_equal(m->table->nr_devices, 1);
	return &m->table->devices[0];
}

static void amdgpu_has_memory_work_and_power(void **state)
{
	struct machine *m = *state;
	const struct gpu_device *d;

	text_put("42\n", DEVICE "gpu_busy_percent", m->sys);
	text_put("7\n", DEVICE "mem_busy_percent", m->sys);
	text_put("1000\n", DEVICE "mem_info_vram_used", m->sys);
	text_put("17163091968\n", DEVICE "mem_info_vram_total", m->sys);
	text_put("AMD Instinct MI300X\n", DEVICE "product_name", m->sys);
	text_put("35000000\n", SENSORS "power1_average", m->sys);
	text_put("99000000\n", SENSORS "power1_input", m->sys);
	text_put("1500000000\n", SENSORS "freq1_input", m->sys);
	d = only_device(m);
	assert_string_equal(d->name, "0000:03:00.0");
	assert_string_equal(d->model, "AMD Instinct MI300X");
	assert_string_equal(d->driver, "amdgpu");
	assert_int_equal(d->minor, -1);
	assert_int_equal(d->has, GPU_BUSY | GPU_MEMORY_BUSY | GPU_MEMORY | GPU_POWER | GPU_CLOCK |
					 GPU_USES);
	assert_int_equal(d->busy_milli, 420);
	assert_int_equal(d->memory_busy_milli, 70);
	assert_int_equal(d->memory_bytes, 1000);
	assert_int_equal(d->memory_total_bytes, 17163091968);
	assert_int_equal(d->power_mw, 35000);
	assert_int_equal(d->clock_hz, 1500000000);
}

static void values_that_are_not_there_are_absent(void **state)
{
	struct machine *m = *state;

	text_put("\n", DEVICE "product_name", m->sys);
	text_put("101\n", DEVICE "gpu_busy_percent", m->sys);
	text_put("unknown\n", SENSORS "power1_input", m->sys);
	assert_int_equal(only_device(m)->has, GPU_USES);
	assert_string_equal(m->table->devices[0].model, "");
}

static void energy_counts_from_the_first_pass_and_never_falls(void **state)
{
	struct machine *m = *state;

	text_put("5000\n", SENSORS "energy1_input", m->sys);
	text_put("1\n", SENSORS "energy2_input", m->sys);
	assert_true(only_device(m)->has & GPU_ENERGY);
	assert_int_equal(m->table->devices[0].energy_uj, 0);
	text_put("5300\n", SENSORS "energy1_input", m->sys);
	assert_int_equal(only_device(m)->energy_uj, 300);
	text_put("100\n", SENSORS "energy1_input", m->sys);
	assert_int_equal(only_device(m)->energy_uj, 300);
	text_put("150\n", SENSORS "energy1_input", m->sys);
	assert_int_equal(only_device(m)->energy_uj, 350);
}

static void energy_of_the_package_counts_where_there_is_no_other(void **state)
{
	struct machine *m = *state;

	text_put("1\n", SENSORS "energy2_input", m->sys);
	only_device(m);
	text_put("9\n", SENSORS "energy2_input", m->sys);
	assert_int_equal(only_device(m)->energy_uj, 8);
}

static void sensors_of_a_tile_are_not_those_of_the_device(void **state)
{
	struct machine *m = *state;

	text_put("i915_gt0\n", SENSORS "name", m->sys);
	text_put("5000\n", SENSORS "energy1_input", m->sys);
	assert_false(only_device(m)->has & GPU_ENERGY);
}

static void suspended_device_is_not_woken(void **state)
{
	struct machine *m = *state;

	text_put("5000\n", SENSORS "energy1_input", m->sys);
	text_put("42\n", DEVICE "gpu_busy_percent", m->sys);
	only_device(m);
	text_put("suspended\n", DEVICE "power/runtime_status", m->sys);
	text_put("6000\n", SENSORS "energy1_input", m->sys);
	assert_int_equal(only_device(m)->has, GPU_USES | GPU_ENERGY);
	assert_int_equal(m->table->devices[0].energy_uj, 0);
}

static void node_without_sysfs_is_named_by_its_number(void **state)
{
	struct machine *m = *state;

	text_put("", "%s/dri/renderD130", m->dev);
	text_put("", "%s/dri/card0", m->dev);
	text_put("", "%s/dri/renderD", m->dev);
	text_put("", "%s/dri/renderDx", m->dev);
	assert_string_equal(only_device(m)->name, "renderD130");
}

static void device_behind_a_node_may_change(void **state)
{
	struct machine *m = *state;
	char path[200];

	only_device(m);
	gpu_put(m, 129, "0000:04:00.0", "amdgpu");
	snprintf(path, sizeof(path), "%s/class/drm/renderD128/device", m->sys);
	link_put("../../../devices/0000:04:00.0", path);
	snprintf(path, sizeof(path), "%s/dri/renderD129", m->dev);
	assert_int_equal(unlink(path), 0);
	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, "drm-driver: amdgpu\ndrm-client-id: 1\n");
	PASS(m, 6 * SECOND, 50);
	assert_int_equal(m->table->nr_devices, 1);
	assert_string_equal(m->table->devices[0].name, "0000:04:00.0");
	assert_int_equal(m->table->nr_uses, 1);
}

static void gpu_is_there_if_something_renders(void **state)
{
	struct machine *m = *state;

	assert_false(drm_is_there("/nowhere", m->sys));
	text_put("", "%s/dri/card0", m->dev);
	assert_false(drm_is_there(m->dev, m->sys));
	text_put("", "%s/dri/renderD128", m->dev);
	assert_true(drm_is_there(m->dev, m->sys));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		AMDGPU_TEST(amdgpu_has_memory_work_and_power),
		AMDGPU_TEST(values_that_are_not_there_are_absent),
		AMDGPU_TEST(energy_counts_from_the_first_pass_and_never_falls),
		AMDGPU_TEST(energy_of_the_package_counts_where_there_is_no_other),
		AMDGPU_TEST(sensors_of_a_tile_are_not_those_of_the_device),
		AMDGPU_TEST(suspended_device_is_not_woken),
		MACHINE_TEST(node_without_sysfs_is_named_by_its_number),
		AMDGPU_TEST(device_behind_a_node_may_change),
		MACHINE_TEST(gpu_is_there_if_something_renders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Processes that use devices of NVIDIA: memory, time that is given to them, instances. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/nvml_library.h"
#include "nvml_fixture.h"

#define BUSY "gpu GPU-a\nutilization 50 10\nmemory 1 2\n"
#define IDLE "gpu GPU-a\nutilization 0 0\nmemory 1 2\n"
#define INSTANCES                                                                                  \
	"gpu GPU-a\nmemory 9 10\npower 1000\ninstance MIG-1 1 0\nmemory 1 5\n"                     \
	"instance MIG-2 2 0\nmemory 2 5\n"

static void processes_have_their_memory(void **state)
{
	struct fixture *f = *state;
	const struct gpu_use *use;

	nvml_opens(f, BUSY "process 900 5000\nprocess 800 -\n" GPU_B "process 900 7000 graphics\n");
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 3);
	use = use_of(f->table, "GPU-a", 900);
	assert_int_equal(use->memory_bytes, 5000);
	assert_true(use->has & GPU_MEMORY);
	assert_int_equal(use->seen_ns, f->now_ns);
	assert_false(use_of(f->table, "GPU-a", 800)->has & GPU_MEMORY);
	assert_int_equal(use_of(f->table, "GPU-b", 900)->memory_bytes, 7000);
	assert_true(f->table->devices[0].has & f->table->devices[1].has & GPU_USES);
}

static void a_process_in_both_lists_counts_once(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 100 both\nprocess 6 10\nprocess 6 20 graphics\n"
			   "process 7 30\nprocess 7 - graphics\n");
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 3);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->memory_bytes, 100);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->memory_bytes, 20);
	assert_int_equal(use_of(f->table, "GPU-a", 7)->memory_bytes, 30);
}

static void entries_that_are_no_process_are_left_out(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 0 100\nprocess 5 100\nprocess 5 100\nprocess 5 50\n"
			   "process 4294967295 1\nprocess 4194305 1\n");
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 1);
	assert_int_equal(f->table->uses[0].pid, 5);
	assert_int_equal(f->table->uses[0].memory_bytes, 100);
}

static void entries_of_32_bytes_are_seen_to_be_so(void **state)
{
	struct fixture *f = *state;
	char text[8192] = "gpu GPU-a\nclock 1\nstride 32\n";

	nvml_opens(f, "gpu GPU-a\nclock 1\nstride 32\nprocess 5 6\n");
	assert_int_equal(pass_after(f, S)->nr_uses, 1);
	for (int pid = 1; pid <= 64; pid++) /* as many as there is room for at first */
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "process %d %d\n", pid,
			 pid * 100);
	script(f, text);
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 64);
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(f->table->uses[i].pid, i + 1);
		assert_int_equal(f->table->uses[i].memory_bytes, (i + 1) * 100);
	}
}

/* A script of a device with so many processes from PID 1 on; to be freed. */
static char *crowd(const char *device, int nr)
{
	const size_t size = 128 + (size_t)nr * 32;
	char *text = malloc(size), *at = text;

	assert_non_null(text);
	at += snprintf(at, size, "%s", device);
	for (int pid = 1; pid <= nr; pid++)
		at += snprintf(at, size - (size_t)(at - text), "process %d 10\n", pid);
	return text;
}

static void more_processes_than_have_room_are_counted(void **state)
{
	struct fixture *f = *state;
	char *text = crowd("gpu GPU-a\nclock 1\n", MAX_GPU_USES + 76);

	nvml_opens(f, text);
	free(text);
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, MAX_GPU_USES);
	assert_int_equal(f->table->uses_dropped, 76);
	pass_after(f, S);
	assert_int_equal(f->table->uses_dropped, 76);
}

static void a_list_without_end_is_unknown(void **state)
{
	struct fixture *f = *state;
	char *text = crowd("gpu GPU-a\nclock 1\n", NVML_MOST_LISTED + 1);

	nvml_opens(f, text);
	free(text);
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 0);
	assert_int_equal(f->table->devices[0].has & GPU_USES, 0);
}

static void a_list_that_is_refused_is_unknown(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 6\nresult nvmlDeviceGetComputeRunningProcesses_v3 4\n");
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 0);
	assert_int_equal(f->table->devices[0].has & GPU_USES, 0);
	assert_string_equal(f->table->why,
			    "the driver refuses the processes of 1 NVIDIA device, as it does those "
			    "of instances (MIG) without root");
}

static void an_empty_list_of_graphics_is_read_every_second(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY);
	pass_after(f, S);
	script(f, BUSY "process 5 6 graphics\n");
	assert_int_equal(pass_after(f, S / 2)->nr_uses, 0);
	assert_int_equal(pass_after(f, S / 2)->nr_uses, 1);
	script(f, BUSY);
	assert_int_equal(pass_after(f, S / 10)->nr_uses, 0);
}

static void one_process_is_given_all_work_of_the_device(void **state)
{
	struct fixture *f = *state;
	const struct gpu_use *use;

	nvml_opens(f, BUSY "process 5 6\n");
	pass_after(f, S);
	use = use_of(f->table, "GPU-a", 5);
	assert_int_equal(use->busy_ns, 0); /* it is new: nothing is known of the time before */
	assert_int_equal(use->busy_at_ns, 0);
	use = use_of(pass_after(f, 2 * S), "GPU-a", 5);
	assert_int_equal(use->has, GPU_MEMORY | GPU_BUSY | GPU_MEMORY_BUSY);
	assert_int_equal(use->is_estimated, 1);
	assert_int_equal(use->busy_ns, S);
	assert_int_equal(use->memory_busy_ns, S / 5);
	assert_int_equal(use->busy_at_ns, f->now_ns);
	assert_int_equal(use->seen_ns, f->now_ns - 2 * S);
	script(f, IDLE "process 5 6\n");
	use = use_of(pass_after(f, S), "GPU-a", 5);
	assert_int_equal(use->busy_ns, S);
	assert_int_equal(use->busy_at_ns, f->now_ns - S);
}

static void a_process_that_begins_again_begins_at_zero(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 6\n");
	pass_after(f, S);
	assert_int_equal(use_of(pass_after(f, 2 * S), "GPU-a", 5)->busy_ns, S);
	script(f, BUSY);
	assert_int_equal(pass_after(f, S)->nr_uses, 0);
	script(f, BUSY "process 5 6\n");
	assert_int_equal(use_of(pass_after(f, S), "GPU-a", 5)->busy_ns, 0);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->seen_ns, f->now_ns);
}

static void work_goes_on_after_a_list_that_failed(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 6\n");
	pass_after(f, S);
	pass_after(f, 2 * S);
	script(f, BUSY "result nvmlDeviceGetComputeRunningProcesses_v3 999\n");
	assert_int_equal(pass_after(f, S)->nr_uses, 0);
	assert_int_equal(f->table->devices[0].has & GPU_USES, 0);
	script(f, BUSY "process 5 6\n");
	assert_int_equal(use_of(pass_after(f, S), "GPU-a", 5)->busy_ns, S);
	assert_int_equal(use_of(pass_after(f, S), "GPU-a", 5)->busy_ns, 3 * S / 2);
}

static void samples_divide_the_work_of_several_processes(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\nprocess 7 1\n"
			   "sample 5 30 10\nsample 6 20 0\nsample 99 50 50\n");
	pass_after(f, S); /* they are new */
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 3 * S / 10);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->memory_busy_ns, S / 10);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->busy_ns, S / 5);
	assert_int_equal(use_of(f->table, "GPU-a", 7)->busy_ns, 0);
	assert_int_equal(use_of(f->table, "GPU-a", 7)->busy_at_ns, 0);
	assert_true(use_of(f->table, "GPU-a", 7)->has & GPU_BUSY);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->busy_at_ns, f->now_ns);
	pass_whole(f, S / 2); /* at most once a second */
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 3 * S / 10);
	pass_whole(f, S / 2);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 6 * S / 10);
}

static void samples_give_no_more_time_than_there_is(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\nsample 5 90 100\nsample 6 60 100\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 6 * S / 10);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->busy_ns, 4 * S / 10);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->memory_busy_ns, S / 2);
}

static void samples_that_cannot_be_are_left_out(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\n"
			   "sample 5 4000000000 7\nsample 6 20 101\nsample 0 10 10\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 0);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->busy_ns, 0);
}

static void several_samples_of_a_process_are_averaged(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\nsample 5 10 0 3000\nsample 5 30 0\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, S / 5);
}

static void samples_of_long_ago_are_not_asked_for(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\nsample 5 10 0 5000000\nsample 6 30 0\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 0);
	assert_int_equal(use_of(f->table, "GPU-a", 6)->busy_ns, 3 * S / 10);
}

static void a_device_that_is_idle_is_not_asked_for_samples(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, IDLE "process 5 1\nprocess 6 1\nsample 5 10 0\n");
	pass_whole(f, S);
	pass_whole(f, 2 * S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, 0);
	script(f, BUSY "process 5 1\nprocess 6 1\nsample 5 10 0\n");
	pass_whole(f, S); /* idle until the last pass: one second is given */
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, S / 10);
}

static void without_samples_the_work_of_several_is_unknown(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, BUSY "process 5 1\nprocess 6 1\nmissing nvmlDeviceGetProcessUtilization\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->has, GPU_MEMORY);
	script(f, BUSY "process 5 1\n");
	pass_after(f, S);
	assert_true(use_of(f->table, "GPU-a", 5)->has & GPU_BUSY);
}

static void without_utilization_samples_tell_of_one_process_too(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, "gpu GPU-a\nclock 1\nprocess 5 1\nsample 5 10 0\n");
	pass_after(f, S);
	pass_whole(f, S);
	assert_int_equal(use_of(f->table, "GPU-a", 5)->busy_ns, S / 10);
}

/* From one process to two and back: time is given once, whatever by. */
static void time_is_given_once_when_processes_come_and_go(void **state)
{
	static const char *const texts[] = {
		"gpu GPU-a\nutilization 100 100\nprocess 5 1\n",
		("gpu GPU-a\nutilization 100 100\nprocess 5 1\nprocess 6 1\n"
		 "sample 5 100 100\nsample 6 100 100\n"),
		"gpu GPU-a\nutilization 100 100\nprocess 6 1\n",
	};
	struct fixture *f = *state;
	uint64_t last[2] = { 0 }, sum = 0, first_ns;

	nvml_opens(f, texts[1]);
	pass_after(f, S);
	first_ns = f->now_ns;
	for (int i = 0; i < 60; i++) {
		script(f, texts[i % 7 % 3]);
		pass_whole(f, S * (uint64_t)(i % 5) / 3);
		for (uint32_t p = 0; p < 2; p++) {
			const struct gpu_use *use = use_of(f->table, "GPU-a", 5 + p);
			const uint64_t busy_ns = use ? use->busy_ns : 0;

			sum += busy_ns > last[p] ? busy_ns - last[p] : 0;
			last[p] = busy_ns;
		}
		assert_true(sum <= f->now_ns - first_ns);
	}
	assert_true(sum > (f->now_ns - first_ns) / 4);
}

static void instances_are_devices_and_have_the_processes(void **state)
{
	struct fixture *f = *state;
	const struct gpu_device *d;

	nvml_opens(f, INSTANCES "process 5 100 compute 2 0\n");
	pass_whole(f, S);
	assert_int_equal(f->table->nr_devices, 3);
	d = device_of(f->table, "GPU-a");
	assert_int_equal(d->has, GPU_MEMORY | GPU_POWER | GPU_XID);
	assert_int_equal(d->minor, 0);
	d = device_of(f->table, "MIG-1");
	assert_int_equal(d->has, GPU_MEMORY | GPU_USES);
	assert_int_equal(d->minor, -1);
	assert_string_equal(d->model, "instance");
	assert_int_equal(f->table->nr_uses, 1);
	assert_int_equal(use_of(f->table, "MIG-2", 5)->has, GPU_MEMORY);
	assert_int_equal(use_of(f->table, "MIG-2", 5)->memory_bytes, 100);
	assert_string_equal(f->table->why, "");
}

static void instances_are_found_by_the_list_of_their_device(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, "gpu GPU-a\nmemory 9 10\nprocess 5 100 compute 1 0\n"
		      "process 6 200 compute 2 0\nprocess 7 1\n"
		      "instance MIG-1 1 0\nmemory 1 5\nresult "
		      "nvmlDeviceGetComputeRunningProcesses_v3 3\n"
		      "instance MIG-2 2 0\nmemory 2 5\nresult "
		      "nvmlDeviceGetComputeRunningProcesses_v3 3\n");
	pass_after(f, S);
	pass_after(f, S);
	assert_int_equal(f->table->nr_uses, 2);
	assert_int_equal(use_of(f->table, "MIG-1", 5)->memory_bytes, 100);
	assert_int_equal(use_of(f->table, "MIG-2", 6)->memory_bytes, 200);
}

static void processes_of_another_instance_are_not_counted_twice(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, INSTANCES "process 5 100 compute 2 0\nprocess 6 100 compute 1 0\n");
	pass_whole(f, S);
	assert_int_equal(f->table->nr_uses, 1);
}

static void instances_come_and_go(void **state)
{
	struct fixture *f = *state;

	nvml_opens(f, INSTANCES "process 5 100 compute 2 0\n");
	pass_whole(f, S);
	script(f, "gpu GPU-a\nmemory 9 10\nprocess 8 1\ninstance MIG-1 1 0\nmemory 1 5\nmig off\n");
	pass_whole(f, S);
	pass_whole(f, 11 * S);
	assert_int_equal(device_of(f->table, "MIG-1")->has, 0);
	assert_int_equal(device_of(f->table, "MIG-2")->has, 0);
	assert_non_null(use_of(f->table, "GPU-a", 8));
	assert_string_equal(f->table->why, "");
	script(f, INSTANCES "instance MIG-3 3 0\nmemory 3 5\nprocess 9 1 compute 3 0\n");
	pass_whole(f, S);
	pass_whole(f, 11 * S);
	assert_int_equal(f->table->nr_devices, 4);
	assert_non_null(use_of(f->table, "MIG-3", 9));
	assert_int_equal(device_of(f->table, "MIG-1")->has, GPU_MEMORY | GPU_USES);
}

static void an_instance_takes_the_place_of_one_that_is_gone(void **state)
{
	struct fixture *f = *state;
	char text[512];

	nvml_opens(f, GPU_B "gpu GPU-a\nmemory 1 2\n");
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text),
			 GPU_B "process 7 8\n"
			       "gpu GPU-a\nmemory 1 2\ninstance MIG-%d 1 0\nmemory 1 2\n"
			       "process 5 6 compute 1 0\n",
			 i);
		script(f, text);
		pass_whole(f, 11 * S);
		pass_after(f, S);
		assert_int_equal(f->table->nr_uses, 2);
		assert_non_null(use_of(f->table, "GPU-b", 7));
	}
	assert_int_equal(f->table->nr_devices, MAX_GPUS);
	assert_non_null(use_of(f->table, "MIG-99", 5));
	assert_int_equal(use_of(f->table, "MIG-99", 5)->seen_ns, f->now_ns - S);
}

#define nvml_test(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		nvml_test(processes_have_their_memory),
		nvml_test(a_process_in_both_lists_counts_once),
		nvml_test(entries_that_are_no_process_are_left_out),
		nvml_test(entries_of_32_bytes_are_seen_to_be_so),
		nvml_test(more_processes_than_have_room_are_counted),
		nvml_test(a_list_without_end_is_unknown),
		nvml_test(a_list_that_is_refused_is_unknown),
		nvml_test(an_empty_list_of_graphics_is_read_every_second),
		nvml_test(one_process_is_given_all_work_of_the_device),
		nvml_test(a_process_that_begins_again_begins_at_zero),
		nvml_test(work_goes_on_after_a_list_that_failed),
		nvml_test(samples_divide_the_work_of_several_processes),
		nvml_test(samples_give_no_more_time_than_there_is),
		nvml_test(samples_that_cannot_be_are_left_out),
		nvml_test(several_samples_of_a_process_are_averaged),
		nvml_test(samples_of_long_ago_are_not_asked_for),
		nvml_test(a_device_that_is_idle_is_not_asked_for_samples),
		nvml_test(without_samples_the_work_of_several_is_unknown),
		nvml_test(without_utilization_samples_tell_of_one_process_too),
		nvml_test(time_is_given_once_when_processes_come_and_go),
		nvml_test(instances_are_devices_and_have_the_processes),
		nvml_test(instances_are_found_by_the_list_of_their_device),
		nvml_test(processes_of_another_instance_are_not_counted_twice),
		nvml_test(instances_come_and_go),
		nvml_test(an_instance_takes_the_place_of_one_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

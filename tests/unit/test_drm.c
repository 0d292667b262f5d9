// SPDX-License-Identifier: BSD-2-Clause
/* Which processes use which GPU, and how much, from a made /proc. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drm_fixture.h"

#include <sys/sysmacros.h>

#define KIB 1024ULL

static const struct gpu_use *use_of(const struct machine *m, uint32_t pid)
{
	for (uint32_t i = 0; i < m->table->nr_uses; i++)
		if (m->table->uses[i].pid == pid)
			return &m->table->uses[i];
	return NULL;
}

static void assert_busy(const struct machine *m, uint32_t pid, uint64_t busy_ns)
{
	assert_non_null(use_of(m, pid));
	assert_true(use_of(m, pid)->has & GPU_BUSY);
	assert_int_equal(use_of(m, pid)->busy_ns, busy_ns);
}

static void assert_memory(const struct machine *m, uint32_t pid, uint64_t bytes)
{
	assert_non_null(use_of(m, pid));
	assert_true(use_of(m, pid)->has & GPU_MEMORY);
	assert_int_equal(use_of(m, pid)->memory_bytes, bytes);
}

static void use_counts_from_the_first_pass(void **state)
{
	struct machine *m = *state;
	uint64_t first_ns = m->now_ns + SECOND;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 3, "/dev/null", "pos:\t0\n");
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 40 * SECOND, 100));
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 1);
	assert_string_equal(m->table->devices[0].name, "0000:03:00.0");
	assert_true(m->table->devices[0].has & GPU_USES);
	assert_int_equal(m->table->nr_uses, 1);
	assert_busy(m, 50, 0);
	assert_memory(m, 50, 100 * KIB);
	assert_int_equal(use_of(m, 50)->device, 0);
	assert_int_equal(use_of(m, 50)->seen_ns, first_ns);
	assert_int_equal(use_of(m, 50)->busy_at_ns, 0);
	descriptor_write(m, 50, 4, amdgpu_client(7, 40 * SECOND + 5, 90));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 5);
	assert_memory(m, 50, 90 * KIB);
	assert_int_equal(use_of(m, 50)->seen_ns, first_ns);
	assert_int_equal(use_of(m, 50)->busy_at_ns, m->now_ns);
	assert_string_equal(m->table->why, "");
}

static void all_use_of_a_process_that_began_later_counts(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, just_now(m));
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND / 4, 100));
	PASS(m, 0, 50);
	assert_busy(m, 50, SECOND / 4);
}

/* The client worked for longer than the process is there: it was inherited or sent. */
static void use_from_before_a_process_is_not_its_own(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, just_now(m));
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 40 * SECOND, 100));
	PASS(m, 0, 50);
	assert_busy(m, 50, 0);
	descriptor_write(m, 50, 4, amdgpu_client(7, 41 * SECOND, 100));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, SECOND);
}

static void all_use_of_a_client_that_was_opened_later_counts(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	PASS(m, SECOND, 50);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 3 * SECOND, 100));
	PASS(m, 10 * SECOND, 50);
	assert_busy(m, 50, 3 * SECOND);
}

static void client_counts_once_however_often_it_is_open(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	process_put(m, 60, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	descriptor_put(m, 50, 5, RENDER, amdgpu_client(7, SECOND, 100));
	descriptor_put(m, 60, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 60, 50, 60);
	assert_int_equal(m->table->nr_uses, 1);
	assert_memory(m, 50, 100 * KIB);
	descriptor_write(m, 50, 4, amdgpu_client(7, 2 * SECOND, 100));
	descriptor_write(m, 50, 5, amdgpu_client(7, 2 * SECOND, 100));
	/* a client is read once in a pass: this is not looked at */
	descriptor_write(m, 60, 4, amdgpu_client(99, 2 * SECOND, 100));
	PASS(m, SECOND, 60, 50);
	assert_int_equal(m->table->nr_uses, 1);
	assert_busy(m, 50, SECOND);
	descriptor_write(m, 60, 4, amdgpu_client(7, 2 * SECOND, 100));
	PASS(m, SECOND, 60);
	assert_busy(m, 60, 0);
}

static void inherited_client_goes_on_when_its_first_process_ends(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	process_put(m, 60, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	descriptor_put(m, 60, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 50, 60);
	descriptor_write(m, 60, 4, amdgpu_client(7, SECOND + 9, 100));
	PASS(m, SECOND, 60);
	assert_int_equal(m->table->nr_uses, 1);
	assert_busy(m, 60, 9);
}

static void clients_of_a_process_are_summed_and_keep_their_time(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	descriptor_put(m, 50, 5, RENDER, amdgpu_client(8, SECOND, 10));
	PASS(m, SECOND, 50);
	assert_memory(m, 50, 110 * KIB);
	descriptor_write(m, 50, 4, amdgpu_client(7, SECOND + 20, 100));
	descriptor_write(m, 50, 5, amdgpu_client(8, SECOND + 3, 10));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 23);
	descriptor_close(m, 50, 4);
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 23);
	assert_memory(m, 50, 10 * KIB);
	descriptor_close(m, 50, 5);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 0);
	assert_int_equal(m->table->nr_devices, 1);
}

static void client_with_the_number_of_a_closed_one_is_another(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 40 * SECOND, 100));
	PASS(m, SECOND, 50);
	descriptor_close(m, 50, 4);
	PASS(m, SECOND, 50);
	PASS(m, 10 * SECOND, 50);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 2 * SECOND, 100));
	PASS(m, 10 * SECOND, 50);
	assert_busy(m, 50, 2 * SECOND);
}

static void client_that_could_not_be_read_once_does_not_count_twice(void **state)
{
	struct machine *m = *state;
	char path[200];

	process_put(m, 50, just_now(m));
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND / 4, 100));
	PASS(m, 0, 50);
	snprintf(path, sizeof(path), "%s/50/fdinfo/4", m->proc);
	assert_int_equal(unlink(path), 0);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 0);
	descriptor_write(m, 50, 4, amdgpu_client(7, SECOND / 4, 100));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, SECOND / 4);
}

static void counter_that_falls_is_waited_for(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, 100, 1));
	PASS(m, SECOND, 50);
	descriptor_write(m, 50, 4, amdgpu_client(7, 150, 1));
	PASS(m, SECOND, 50);
	descriptor_write(m, 50, 4, amdgpu_client(7, 30, 1));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 50);
	descriptor_write(m, 50, 4, amdgpu_client(7, 160, 1));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 60);
}

static void time_of_several_engines_is_divided_by_their_number(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER,
		       "drm-driver: i915\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n"
		       "drm-engine-render: 10 ns\n"
		       "drm-engine-video: 21 ns\ndrm-engine-capacity-video: 2\n");
	PASS(m, SECOND, 50);
	descriptor_write(m, 50, 4,
			 "drm-driver: i915\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n"
			 "drm-engine-render: 110 ns\n"
			 "drm-engine-video: 61 ns\ndrm-engine-capacity-video: 2\n");
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 120);
}

static const char *xe_client(uint64_t cycles, uint64_t clock)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "drm-driver: xe\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n"
		 "drm-cycles-ccs: %llu\ndrm-total-cycles-ccs: %llu\ndrm-engine-capacity-ccs: 4\n",
		 (unsigned long long)cycles, (unsigned long long)clock);
	return text;
}

static void cycles_become_time_by_the_clock_of_the_device(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, xe_client(500, 1000));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 0);
	descriptor_write(m, 50, 4, xe_client(500 + 40, 1000 + 100));
	PASS(m, 10 * SECOND, 50);
	assert_busy(m, 50, SECOND);
	/* a reset of the device: its clock begins anew, and the cycles count with the next */
	descriptor_write(m, 50, 4, xe_client(500 + 80, 50));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, SECOND);
	descriptor_write(m, 50, 4, xe_client(500 + 80, 50 + 100));
	PASS(m, 10 * SECOND, 50);
	assert_busy(m, 50, 2 * SECOND);
}

static void cycles_before_the_first_pass_count_for_a_later_process(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, just_now(m));
	descriptor_put(m, 50, 4, RENDER, xe_client(40, 1000));
	PASS(m, 0, 50);
	descriptor_write(m, 50, 4, xe_client(40, 1000 + 100));
	PASS(m, 4 * SECOND, 50);
	assert_busy(m, 50, 4 * SECOND * 40 / 100 / 4);
}

static void client_of_a_suspended_device_is_not_read(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, xe_client(500, 1000));
	PASS(m, SECOND, 50);
	text_put("suspended\n", "%s/devices/0000:03:00.0/power/runtime_status", m->sys);
	descriptor_write(m, 50, 4, "reading this would have woken the device");
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 0);
	/* the clock stood still in these 4 s: the cycles count with the next ones */
	text_put("active\n", "%s/devices/0000:03:00.0/power/runtime_status", m->sys);
	descriptor_write(m, 50, 4, xe_client(500 + 40, 1000 + 100));
	PASS(m, 3 * SECOND, 50);
	assert_busy(m, 50, 0);
	descriptor_write(m, 50, 4, xe_client(500 + 40, 1000 + 200));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, SECOND / 10);
}

static void clients_of_two_devices_are_two_uses(void **state)
{
	struct machine *m = *state;

	gpu_put(m, 129, "0000:04:00.0", "amdgpu");
	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(30, SECOND, 100));
	descriptor_put(m, 50, 5, "/dev/dri/card1",
		       "drm-driver: amdgpu\ndrm-client-id: 30\n"
		       "drm-pdev: 0000:04:00.0\n"
		       "drm-memory-vram: 3\n");
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 2);
	assert_int_equal(m->table->nr_uses, 2);
	assert_int_not_equal(m->table->uses[0].device, m->table->uses[1].device);
	assert_int_equal(m->table->uses[0].memory_bytes + m->table->uses[1].memory_bytes,
			 100 * KIB + 3);
}

static void device_without_a_pci_address_is_found_by_its_node(void **state)
{
	struct machine *m = *state;
	char *fdinfo = recorded("panfrost");

	gpu_put(m, 128, "ff9a0000.gpu", "panfrost");
	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "/dev/dri/card0", fdinfo);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 1);
	assert_string_equal(m->table->devices[0].name, "ff9a0000.gpu");
	assert_memory(m, 50, 36496 * KIB);
	free(fdinfo);
}

static void device_is_that_of_the_client_rather_than_of_the_number(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER,
		       "drm-driver: xe\ndrm-client-id: 1\ndrm-pdev: 0000:09:00.0\n");
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 2);
	assert_string_equal(m->table->devices[use_of(m, 50)->device].name, "0000:09:00.0");
}

static void device_that_is_not_in_dev_is_there_while_it_is_used(void **state)
{
	struct machine *m = *state;
	char *fdinfo = recorded("amdgpu");

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "/dev/dri/renderD135", fdinfo);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 1);
	assert_string_equal(m->table->devices[0].name, "0000:04:00.0");
	assert_string_equal(m->table->devices[0].driver, "amdgpu");
	descriptor_close(m, 50, 4);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 0);
	free(fdinfo);
}

static void process_of_a_silent_driver_is_known_without_values(void **state)
{
	struct machine *m = *state;
	char *fdinfo = recorded("nouveau");

	gpu_put(m, 128, "0000:01:00.0", "nouveau");
	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, fdinfo);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 1);
	assert_int_equal(use_of(m, 50)->has, 0);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 1);
	free(fdinfo);
}

static void dri_nodes_of_nvidia_are_left_out(void **state)
{
	struct machine *m = *state;

	gpu_put(m, 128, "0000:01:00.0", "nvidia");
	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER,
		       "drm-driver: nvidia-drm\ndrm-client-id: 1\ndrm-pdev: 0000:01:00.0\n");
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_devices, 0);
	assert_int_equal(m->table->nr_uses, 0);
}

/* As machine_pass(), after another source has found two GPUs of NVIDIA, and a use of each by 60. */
static void pass_after_nvml(struct machine *m, bool tells)
{
	static const uint32_t pids[] = { 60, 50 };

	*m->table = (struct gpu_table){ .nr_devices = 2, .nr_uses = tells };
	for (unsigned i = 0; i < 2; i++) {
		snprintf(m->table->devices[i].driver, sizeof(m->table->devices[i].driver),
			 "nvidia");
		m->table->devices[i].minor = (int)(1 - i);
		m->table->devices[i].has = tells ? GPU_USES : 0;
	}
	m->table->uses[0] = (struct gpu_use){ .pid = 60, .device = 1 };
	m->now_ns += SECOND;
	drm_pass(m->drm, m->table, pids, 2, m->now_ns);
}

static void descriptors_of_nvidia_tell_holders_if_the_driver_does_not(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "/dev/nvidia1", "");
	descriptor_put(m, 50, 5, "/dev/nvidia1", "");
	descriptor_put(m, 50, 6, "/dev/nvidia255", ""); /* nvidiactl */
	descriptor_put(m, 50, 7, "/dev/nvidia9", "");   /* not in the table */
	process_put(m, 60, LONG_AGO);
	descriptor_put(m, 60, 4, "/dev/nvidia0", "");
	pass_after_nvml(m, true);
	assert_int_equal(m->table->nr_uses, 1); /* that of the driver */
	pass_after_nvml(m, false);
	assert_int_equal(m->table->nr_uses, 2);
	assert_int_equal(use_of(m, 50)->device, 0);
	assert_int_equal(use_of(m, 50)->has, 0);
	assert_int_equal(use_of(m, 60)->device, 1);
	assert_int_equal(m->table->uses_dropped, 0);
}

static void process_that_ended_has_no_use(void **state)
{
	struct machine *m = *state;
	char command[128];

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 50);
	snprintf(command, sizeof(command), "rm -r '%s/50'", m->proc);
	assert_int_equal(system(command), 0);
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 0);
	PASS(m, SECOND, 60);
	assert_int_equal(m->table->nr_uses, 0);
	assert_string_equal(m->table->why, "");
}

static void process_with_a_reused_pid_begins_anew(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 50);
	descriptor_write(m, 50, 4, amdgpu_client(7, SECOND + 9, 100));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 9);
	process_put(m, 50, LONG_AGO + 1);
	descriptor_close(m, 50, 4);
	descriptor_put(m, 50, 5, RENDER, amdgpu_client(8, 40 * SECOND, 60));
	PASS(m, SECOND, 50);
	assert_busy(m, 50, 0);
	assert_memory(m, 50, 60 * KIB);
	assert_int_equal(use_of(m, 50)->seen_ns, m->now_ns);
}

static void descriptor_that_was_reused_is_dropped(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 50);
	descriptor_put(m, 50, 4, "/etc/passwd", "pos:\t0\nflags:\t02\n");
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 0);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(8, SECOND, 50));
	PASS(m, SECOND, 50);
	assert_memory(m, 50, 50 * KIB);
}

static void zombie_lacks_no_right(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "forbidden", "");
	text_put("50 (a) Z 1 1 1 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 1 0 0 0\n", "%s/50/stat",
		 m->proc);
	PASS(m, SECOND, 50);
	assert_string_equal(m->table->why, "");
}

static void missing_right_is_the_reason(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "forbidden", "");
	process_put(m, 60, LONG_AGO);
	descriptor_put(m, 60, 4, RENDER, amdgpu_client(7, SECOND, 100));
	PASS(m, SECOND, 50, 60);
	assert_memory(m, 60, 100 * KIB);
	assert_non_null(strstr(m->table->why, "CAP_SYS_PTRACE"));
	assert_false(m->table->devices[0].has & GPU_USES);
	PASS(m, SECOND, 60);
	assert_string_equal(m->table->why, "");
	assert_true(m->table->devices[0].has & GPU_USES);
}

static void reason_of_another_source_stays(void **state)
{
	struct machine *m = *state;
	uint32_t pid = 50;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, "forbidden", "");
	*m->table = (struct gpu_table){ .why = "because" };
	drm_pass(m->drm, m->table, &pid, 1, m->now_ns);
	assert_string_equal(m->table->why, "because");
}

static void scans_of_many_processes_are_spread(void **state)
{
	struct machine *m = *state;
	uint32_t pids[101] = { 0 };
	unsigned most = 0, all = 0;

	for (uint32_t i = 0; i < 100; i++) {
		pids[i] = 1000 + i;
		process_put(m, pids[i], LONG_AGO);
		descriptor_put(m, pids[i], 0, "/dev/null", "");
	}
	descriptors_read = 0;
	machine_pass(m, SECOND, pids);
	assert_int_equal(descriptors_read, 100); /* new ones at once */
	for (int i = 0; i < 4; i++)
		machine_pass(m, SECOND, pids);
	assert_int_equal(descriptors_read, 100);
	for (int i = 0; i < 11; i++) {
		descriptors_read = 0;
		machine_pass(m, SECOND, pids);
		most = descriptors_read > most ? descriptors_read : most;
		all += descriptors_read;
	}
	assert_in_range(most, 10, 40);
	assert_in_range(all, 150, 220);
}

static void descriptors_of_a_process_are_bounded(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	for (int fd = 0; fd < 2000; fd++)
		descriptor_put(m, 50, fd, RENDER, amdgpu_client((unsigned)fd, SECOND, 1));
	PASS(m, SECOND, 50);
	assert_int_equal(m->table->nr_uses, 1);
	assert_memory(m, 50, 256 * KIB);
	assert_int_equal(m->table->uses_dropped, 1);
}

static void uses_without_room_are_counted(void **state)
{
	struct machine *m = *state;
	uint32_t pid = 50;

	process_put(m, 50, LONG_AGO);
	descriptor_put(m, 50, 4, RENDER, amdgpu_client(7, SECOND, 100));
	*m->table = (struct gpu_table){ .nr_uses = MAX_GPU_USES };
	drm_pass(m->drm, m->table, &pid, 1, m->now_ns);
	assert_int_equal(m->table->uses_dropped, 1);
	*m->table = (struct gpu_table){ .nr_devices = MAX_GPUS };
	drm_pass(m->drm, m->table, &pid, 1, m->now_ns + 1);
	assert_int_equal(m->table->nr_uses, 0);
	assert_int_equal(m->table->uses_dropped, 1);
}

static void text_without_sense_is_no_use(void **state)
{
	struct machine *m = *state;

	process_put(m, 50, LONG_AGO);
	text_put("no fields", "%s/51", m->proc);
	descriptor_put(m, 50, 4, "/dev/dri/renderD140", "drm-driver: \x01\n");
	PASS(m, SECOND, 50, 51, 52);
	assert_int_equal(m->table->nr_uses, 0);
	text_put("no fields", "%s/50/stat", m->proc);
	PASS(m, 10 * SECOND, 50);
	assert_int_equal(m->table->nr_uses, 0);
}

static void descriptor_is_known_by_its_device(void **state)
{
	char name[16];
	uint32_t major = 0, minor = 0;
	int dir = open("/proc/self/fd", O_PATH | O_CLOEXEC),
	    fd = open("/dev/null", O_PATH | O_CLOEXEC);

	(void)state;
	assert_true(dir >= 0 && fd >= 0);
	snprintf(name, sizeof(name), "%d", fd);
	assert_int_equal(drm_descriptor_read(dir, name, &major, &minor), 0);
	assert_int_equal(major, 1);
	assert_int_equal(minor, 3);
	snprintf(name, sizeof(name), "%d", dir);
	assert_int_equal(drm_descriptor_read(dir, name, &major, &minor), -ENODEV);
	assert_int_equal(drm_descriptor_read(dir, "12345678", &major, &minor), -ENOENT);
	close(fd);
	close(dir);
}

/* A node of its own, with another name, in the real /proc. Making one needs root. */
static void device_is_found_whatever_its_node_is_called(void **state)
{
	struct place *p = *state;
	struct gpu_table *t = calloc(1, sizeof(*t));
	uint32_t pid = (uint32_t)getpid();
	struct drm *d = NULL;
	int fd;

	if (mknod(p->path, S_IFCHR | 0600, makedev(195, 5))) {
		free(t);
		skip();
	}
	assert_non_null(t);
	fd = open(p->path, O_PATH | O_CLOEXEC);
	assert_true(fd >= 0);
	snprintf(t->devices[0].driver, sizeof(t->devices[0].driver), "nvidia");
	t->devices[0].minor = 5;
	t->nr_devices = 1;
	assert_int_equal(drm_open(&d, "/proc", p->dir, p->dir), 0);
	drm_pass(d, t, &pid, 1, clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(t->nr_uses, 1);
	assert_int_equal(t->uses[0].pid, pid);
	drm_close(d);
	close(fd);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		AMDGPU_TEST(use_counts_from_the_first_pass),
		AMDGPU_TEST(all_use_of_a_process_that_began_later_counts),
		AMDGPU_TEST(use_from_before_a_process_is_not_its_own),
		AMDGPU_TEST(all_use_of_a_client_that_was_opened_later_counts),
		AMDGPU_TEST(client_counts_once_however_often_it_is_open),
		AMDGPU_TEST(inherited_client_goes_on_when_its_first_process_ends),
		AMDGPU_TEST(clients_of_a_process_are_summed_and_keep_their_time),
		AMDGPU_TEST(client_with_the_number_of_a_closed_one_is_another),
		AMDGPU_TEST(client_that_could_not_be_read_once_does_not_count_twice),
		AMDGPU_TEST(counter_that_falls_is_waited_for),
		AMDGPU_TEST(time_of_several_engines_is_divided_by_their_number),
		AMDGPU_TEST(cycles_become_time_by_the_clock_of_the_device),
		AMDGPU_TEST(cycles_before_the_first_pass_count_for_a_later_process),
		AMDGPU_TEST(client_of_a_suspended_device_is_not_read),
		AMDGPU_TEST(clients_of_two_devices_are_two_uses),
		MACHINE_TEST(device_without_a_pci_address_is_found_by_its_node),
		AMDGPU_TEST(device_is_that_of_the_client_rather_than_of_the_number),
		MACHINE_TEST(device_that_is_not_in_dev_is_there_while_it_is_used),
		MACHINE_TEST(process_of_a_silent_driver_is_known_without_values),
		MACHINE_TEST(dri_nodes_of_nvidia_are_left_out),
		MACHINE_TEST(descriptors_of_nvidia_tell_holders_if_the_driver_does_not),
		AMDGPU_TEST(process_that_ended_has_no_use),
		AMDGPU_TEST(process_with_a_reused_pid_begins_anew),
		AMDGPU_TEST(descriptor_that_was_reused_is_dropped),
		MACHINE_TEST(zombie_lacks_no_right),
		AMDGPU_TEST(missing_right_is_the_reason),
		MACHINE_TEST(reason_of_another_source_stays),
		MACHINE_TEST(scans_of_many_processes_are_spread),
		AMDGPU_TEST(descriptors_of_a_process_are_bounded),
		AMDGPU_TEST(uses_without_room_are_counted),
		MACHINE_TEST(text_without_sense_is_no_use),
		cmocka_unit_test(descriptor_is_known_by_its_device),
		PLACE_TEST(device_is_found_whatever_its_node_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

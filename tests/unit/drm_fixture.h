/* SPDX-License-Identifier: BSD-2-Clause */
/* A made /proc, /dev and /sys with GPUs and processes that use them. Include after cmocka.h. */
#ifndef TESTS_UNIT_DRM_FIXTURE_H
#define TESTS_UNIT_DRM_FIXTURE_H

#include "base/clock.h"
#include "base/cleanup.h"
#include "fixture.h"
#include "measure/drm.h"

#include <errno.h>
#include <stdarg.h>

#define SECOND NSEC_PER_SEC
#define RENDER "/dev/dri/renderD128"
#define LONG_AGO 1 /* kernel ticks after the boot */

struct machine {
	struct place *place;
	char proc[80], dev[80], sys[80];
	struct drm *drm;
	struct gpu_table *table;
	uint64_t now_ns;
};

static unsigned descriptors_read; /* as many as scans have looked at */

/* The link of a descriptor stands for its device: device nodes need rights. */
static inline int link_is_device(int dir, const char *name, uint32_t *major, uint32_t *minor)
{
	char to[64];
	ssize_t n = readlinkat(dir, name, to, sizeof(to) - 1);

	descriptors_read++;
	if (n < 0)
		return -errno;
	to[n] = '\0';
	*major = 226;
	if (sscanf(to, "/dev/dri/renderD%u", minor) == 1 ||
	    sscanf(to, "/dev/dri/card%u", minor) == 1)
		return 0;
	*major = 195;
	if (sscanf(to, "/dev/nvidia%u", minor) == 1)
		return 0;
	return strcmp(to, "forbidden") ? -ENODEV : -EACCES;
}

__attribute__((format(printf, 1, 2))) static inline void folders_make(const char *format, ...)
{
	char path[256], command[300];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "mkdir -p '%s'", path);
	assert_int_equal(system(command), 0);
}

__attribute__((format(printf, 2, 3))) static inline void text_put(const char *text,
								  const char *format, ...)
{
	char path[256];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	file_write(path, text);
}

static inline void link_put(const char *to, const char *from)
{
	unlink(from);
	assert_int_equal(symlink(to, from), 0);
}

/* A GPU with a render node, its card, and one folder of sensors. */
static inline void gpu_put(const struct machine *m, unsigned render, const char *pdev,
			   const char *driver)
{
	char at[200], to[64];

	folders_make("%s/devices/%s/drm/card%u", m->sys, pdev, render - 128);
	folders_make("%s/devices/%s/power", m->sys, pdev);
	folders_make("%s/devices/%s/hwmon/hwmon4", m->sys, pdev);
	folders_make("%s/class/drm/renderD%u", m->sys, render);
	snprintf(at, sizeof(at), "%s/class/drm/renderD%u/device", m->sys, render);
	snprintf(to, sizeof(to), "../../../devices/%s", pdev);
	link_put(to, at);
	snprintf(at, sizeof(at), "%s/devices/%s/driver", m->sys, pdev);
	snprintf(to, sizeof(to), "../../bus/pci/drivers/%s", driver);
	link_put(to, at);
	text_put(driver, "%s/devices/%s/hwmon/hwmon4/name", m->sys, pdev);
	text_put("active\n", "%s/devices/%s/power/runtime_status", m->sys, pdev);
	text_put("", "%s/dri/renderD%u", m->dev, render);
}

static inline void process_put(const struct machine *m, unsigned pid, uint64_t start_ticks)
{
	char text[256];

	folders_make("%s/%u/fd", m->proc, pid);
	folders_make("%s/%u/fdinfo", m->proc, pid);
	snprintf(text, sizeof(text),
		 "%u (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 %llu 1000 2 3\n", pid,
		 (unsigned long long)start_ticks);
	text_put(text, "%s/%u/stat", m->proc, pid);
}

/* When a process begins that begins after drm_open(): then it is half a second old. */
static inline uint64_t just_now(struct machine *m)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

	m->now_ns = clock_ns(CLOCK_MONOTONIC) + 2 * SECOND;
	return clock_ns(CLOCK_BOOTTIME) / (SECOND / per_second) + per_second * 3 / 2;
}

static inline void descriptor_write(const struct machine *m, unsigned pid, int fd,
				    const char *fdinfo)
{
	text_put(fdinfo, "%s/%u/fdinfo/%d", m->proc, pid, fd);
}

static inline void descriptor_put(const struct machine *m, unsigned pid, int fd, const char *device,
				  const char *fdinfo)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%u/fd/%d", m->proc, pid, fd);
	link_put(device, path);
	descriptor_write(m, pid, fd, fdinfo);
}

static inline void descriptor_close(const struct machine *m, unsigned pid, int fd)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%u/fd/%d", m->proc, pid, fd);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/%u/fdinfo/%d", m->proc, pid, fd);
	assert_int_equal(unlink(path), 0);
}

/* A recorded fdinfo; to be freed. */
static inline char *recorded(const char *name)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "tests/data/drm/%s", name);
	text = file_read(path);
	assert_non_null(text);
	return text;
}

/* fdinfo of an amdgpu client that has worked so long, in a static buffer. */
static inline const char *amdgpu_client(unsigned id, uint64_t busy_ns, unsigned vram_kib)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t%u\ndrm-pdev:\t0000:03:00.0\n"
		 "drm-resident-vram:\t%u KiB\ndrm-engine-gfx:\t%llu ns\n",
		 id, vram_kib, (unsigned long long)busy_ns);
	return text;
}

/* One more pass, @after_ns after the last, over the processes up to a 0. */
static inline void machine_pass(struct machine *m, uint64_t after_ns, const uint32_t *pids)
{
	size_t nr = 0;

	while (pids[nr])
		nr++;
	*m->table = (struct gpu_table){ 0 };
	m->now_ns += after_ns;
	drm_pass(m->drm, m->table, pids, nr, m->now_ns);
}

#define PASS(m, after_ns, ...) machine_pass(m, after_ns, (const uint32_t[]){ __VA_ARGS__, 0 })

static inline int machine_make(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));
	void *place;

	if (!m || place_make(&place))
		return -1;
	m->place = place;
	snprintf(m->proc, sizeof(m->proc), "%s/proc", m->place->dir);
	snprintf(m->dev, sizeof(m->dev), "%s/dev", m->place->dir);
	snprintf(m->sys, sizeof(m->sys), "%s/sys", m->place->dir);
	folders_make("%s/dri", m->dev);
	folders_make("%s", m->proc);
	m->table = calloc(1, sizeof(*m->table));
	m->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (!m->table || drm_open(&m->drm, m->proc, m->dev, m->sys))
		return -1;
	drm_set_descriptor_read(m->drm, link_is_device);
	*state = m;
	return 0;
}

/* The GPU that most tests need. */
static inline int amdgpu_make(void **state)
{
	if (machine_make(state))
		return -1;
	gpu_put(*state, 128, "0000:03:00.0", "amdgpu");
	return 0;
}

static inline int machine_remove(void **state)
{
	struct machine *m = *state;
	void *place = m->place;

	drm_close(m->drm);
	free(m->table);
	free(m);
	return place_remove(&place);
}

#define MACHINE_TEST(test) cmocka_unit_test_setup_teardown(test, machine_make, machine_remove)
#define AMDGPU_TEST(test) cmocka_unit_test_setup_teardown(test, amdgpu_make, machine_remove)

#endif

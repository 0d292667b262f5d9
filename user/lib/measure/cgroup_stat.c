// SPDX-License-Identifier: BSD-2-Clause
#include "measure/cgroup_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES 8192 /* memory.stat of v2 takes 2 KiB */

/* By version. No name: that version has the values in another file, or not at all. */
static const struct {
	const char *name, *controller;
} files[2][NR_CGROUP_FILES] = {
	{
		[CGROUP_USAGE] = { "memory.usage_in_bytes", "memory" },
		[CGROUP_STAT] = { "memory.stat", "memory" },
		[CGROUP_KERNEL] = { "memory.kmem.usage_in_bytes", "memory" },
		[CGROUP_EVENTS] = { "memory.oom_control", "memory" },
		[CGROUP_PEAK] = { "memory.max_usage_in_bytes", "memory" },
		[CGROUP_CPU] = { "cpuacct.usage", "cpuacct" },
		[CGROUP_CPU_USER] = { "cpuacct.usage_user", "cpuacct" },
		[CGROUP_CPU_SYSTEM] = { "cpuacct.usage_sys", "cpuacct" },
		[CGROUP_THROTTLE] = { "cpu.stat", "cpu" },
		[CGROUP_PIDS] = { "pids.current", "pids" },
		[CGROUP_IO] = { "blkio.throttle.io_service_bytes_recursive", "blkio" },
	},
	{
		[CGROUP_USAGE] = { "memory.current", "memory" },
		[CGROUP_STAT] = { "memory.stat", "memory" },
		[CGROUP_SWAP] = { "memory.swap.current", "memory" },
		[CGROUP_EVENTS] = { "memory.events", "memory" },
		[CGROUP_PEAK] = { "memory.peak", "memory" },
		[CGROUP_CPU] = { "cpu.stat", "cpu" },
		[CGROUP_PIDS] = { "pids.current", "pids" },
		[CGROUP_DMEM] = { "dmem.current", "dmem" },
		[CGROUP_IO] = { "io.stat", "io" },
		[CGROUP_CPU_PRESSURE] = { "cpu.pressure", "cpu" },
		[CGROUP_MEMORY_PRESSURE] = { "memory.pressure", "memory" },
		[CGROUP_IO_PRESSURE] = { "io.pressure", "io" },
	},
};

/* Reads the number after @key at the beginning of a line; without @key, the first number. */
static bool find_value(const char *text, const char *key, uint64_t *value)
{
	size_t n = key ? strlen(key) : 0;

	while (key && *text && (strncmp(text, key, n) != 0 || text[n] != ' ')) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (!*text)
		return false;
	return sscanf(text + n, "%" SCNu64, value) == 1;
}

static bool find_us(const char *text, const char *key, uint64_t *value)
{
	if (!find_value(text, key, value))
		return false;
	*value *= 1000;
	return true;
}

/* Sums the numbers after each @key: one per device. */
static bool find_sum(const char *text, const char *key, uint64_t *value)
{
	bool found = false;
	uint64_t one;

	*value = 0;
	while ((text = strstr(text, key))) {
		text += strlen(key);
		if (sscanf(text, "%" SCNu64, &one) != 1)
			continue;
		*value += one;
		found = true;
	}
	return found;
}

/* Sums the numbers that end the lines: one per region, as in "drm/0000:03:00.0/vram0 4096". */
static bool find_sum_of_lines(const char *text, const char *key, uint64_t *value)
{
	bool found = false;
	uint64_t one;

	(void)key;
	*value = 0;
	while ((text = strchr(text, ' '))) {
		text++;
		if (sscanf(text, "%" SCNu64, &one) != 1)
			continue;
		*value += one;
		found = true;
	}
	return found;
}

/* Parses PSI: "some avg10=0.00 avg60=0.00 avg300=0.00 total=4711", in microseconds. */
static bool find_total(const char *text, const char *key, uint64_t *value)
{
	const char *line = strstr(text, key), *total = line ? strstr(line, "total=") : NULL;

	if (!total || sscanf(total, "total=%" SCNu64, value) != 1)
		return false;
	*value *= 1000;
	return true;
}

/* File and key of each metric. Keys with "total_" include cgroups below. */
static const struct {
	enum metric_id id;
	struct {
		enum cgroup_file file;
		const char *key;
		bool (*find)(const char *text, const char *key, uint64_t *value);
	} at[2];
} values[] = {
/* clang-format off */
#define BOTH(id, file1, key1, find1, file2, key2, find2) { id, { { file1, key1, find1 }, { file2, key2, find2 } } }
#define ONLY_V2(id, file, key, find) { id, { { file, NULL, NULL }, { file, key, find } } }
	BOTH(M_cgroup_memory, CGROUP_USAGE, NULL, find_value, CGROUP_USAGE, NULL, find_value),
	BOTH(M_cgroup_anon, CGROUP_STAT, "total_rss", find_value, CGROUP_STAT, "anon", find_value),
	BOTH(M_cgroup_file, CGROUP_STAT, "total_cache", find_value, CGROUP_STAT, "file", find_value),
	BOTH(M_cgroup_shmem, CGROUP_STAT, "total_shmem", find_value, CGROUP_STAT, "shmem", find_value),
	BOTH(M_cgroup_kernel, CGROUP_KERNEL, NULL, find_value, CGROUP_STAT, "kernel", find_value),
	ONLY_V2(M_cgroup_reclaimable, CGROUP_STAT, "slab_reclaimable", find_value),
	BOTH(M_cgroup_swap, CGROUP_STAT, "total_swap", find_value, CGROUP_SWAP, NULL, find_value),
	BOTH(M_cgroup_oom_kills, CGROUP_EVENTS, "oom_kill", find_value, CGROUP_EVENTS, "oom_kill", find_value),
	BOTH(M_cgroup_cpu, CGROUP_CPU, NULL, find_value, CGROUP_CPU, "usage_usec", find_us),
	BOTH(M_cgroup_user, CGROUP_CPU_USER, NULL, find_value, CGROUP_CPU, "user_usec", find_us),
	BOTH(M_cgroup_system, CGROUP_CPU_SYSTEM, NULL, find_value, CGROUP_CPU, "system_usec", find_us),
	BOTH(M_cgroup_throttled, CGROUP_THROTTLE, "throttled_time", find_value, CGROUP_CPU, "throttled_usec", find_us),
	BOTH(M_cgroup_tasks, CGROUP_PIDS, NULL, find_value, CGROUP_PIDS, NULL, find_value),
	ONLY_V2(M_cgroup_gpu_memory, CGROUP_DMEM, NULL, find_sum_of_lines),
	BOTH(M_cgroup_read, CGROUP_IO, " Read ", find_sum, CGROUP_IO, "rbytes=", find_sum),
	BOTH(M_cgroup_write, CGROUP_IO, " Write ", find_sum, CGROUP_IO, "wbytes=", find_sum),
	ONLY_V2(M_cgroup_cpu_pressure_some, CGROUP_CPU_PRESSURE, "some ", find_total),
	ONLY_V2(M_cgroup_memory_pressure_some, CGROUP_MEMORY_PRESSURE, "some ", find_total),
	ONLY_V2(M_cgroup_memory_pressure_full, CGROUP_MEMORY_PRESSURE, "full ", find_total),
	ONLY_V2(M_cgroup_io_pressure_some, CGROUP_IO_PRESSURE, "some ", find_total),
	ONLY_V2(M_cgroup_io_pressure_full, CGROUP_IO_PRESSURE, "full ", find_total),
	/* clang-format on */
};
#define NR_VALUES (sizeof(values) / sizeof(*values))

void cgroup_stat_init(struct cgroup_stat *c)
{
	*c = (struct cgroup_stat){ 0 };
	for (int i = 0; i < NR_CGROUP_FILES; i++)
		c->fd[i] = -1;
}

static bool read_file(const struct cgroup_stat *c, int file, char text[FILE_BYTES])
{
	ssize_t n = c->fd[file] >= 0 ? pread(c->fd[file], text, FILE_BYTES - 1, 0) : -1;

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static bool is_in(const struct cgroup_stat *c, size_t i, int file, const struct metric_set *usable)
{
	int version = c->target->cg.is_v2;

	return values[i].at[version].find && (int)values[i].at[version].file == file &&
	       metric_has(usable, values[i].id);
}

/* Counts from the first reading on, also if the kernel's counter was reset. */
static uint64_t counter_add(struct cgroup_stat *c, enum metric_id id, uint64_t now)
{
	if (metric_get(id)->kind != KIND_COUNTER)
		return now;
	if (metric_has(&c->began, id))
		c->since[id] += now >= c->last[id] ? now - c->last[id] : now;
	metric_put(&c->began, id);
	c->last[id] = now;
	return c->since[id];
}

static void read_values(struct cgroup_stat *c, int file, const char *text,
			const struct metric_set *usable, struct sample *smp)
{
	int version = c->target->cg.is_v2;
	uint64_t value;

	for (size_t i = 0; i < NR_VALUES; i++)
		if (is_in(c, i, file, usable) &&
		    values[i].at[version].find(text, values[i].at[version].key, &value))
			sample_set(smp, values[i].id, counter_add(c, values[i].id, value));
}

void cgroup_stat_read(struct cgroup_stat *c, const struct metric_set *usable, struct sample *smp)
{
	char text[FILE_BYTES];

	for (int f = 0; c->target && f < NR_CGROUP_FILES; f++) {
		bool is_needed = false;

		for (size_t i = 0; i < NR_VALUES; i++)
			is_needed |= is_in(c, i, f, usable);
		if (is_needed && read_file(c, f, text))
			read_values(c, f, text, usable, smp);
	}
}

static void file_open(struct cgroup_stat *c, const struct cgroup_target *target, int i)
{
	const char *name = files[target->cg.is_v2][i].name;
	char folder[4096], path[5000];

	if (!name || cgroup_target_find_twin("/proc/self", target,
					     files[target->cg.is_v2][i].controller, folder))
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	c->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
}

static void files_open(struct cgroup_stat *c)
{
	for (int i = 0; i < NR_CGROUP_FILES; i++)
		file_open(c, c->target, i);
}

static void files_close(struct cgroup_stat *c)
{
	for (int i = 0; i < NR_CGROUP_FILES; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
}

void cgroup_stat_reopen(struct cgroup_stat *c)
{
	if (!c->target)
		return;
	files_close(c);
	files_open(c);
	memset(c->last, 0, sizeof(c->last));
}

static const char *why_absent(const struct cgroup_stat *c, const struct run *run, enum metric_id id)
{
	int version = c->target ? c->target->cg.is_v2 : 0;
	char folder[4096];

	if (!c->target)
		return run->is_attached ? "not attached to a cgroup; see --cgroup"
					: "the command has no cgroup of its own; see --own-cgroup";
	for (size_t i = 0; i < NR_VALUES; i++) {
		int file = values[i].at[version].file;

		if (values[i].id != id)
			continue;
		if (!values[i].at[version].find)
			return "only available for cgroup v2";
		if (c->fd[file] < 0 && version)
			return "the cgroup lacks the controller, or the kernel lacks the value";
		if (c->fd[file] < 0 &&
		    cgroup_target_find_twin("/proc/self", c->target,
					    files[version][file].controller, folder))
			return "no cgroup of that path in the hierarchy of the controller";
	}
	return "not provided by the kernel for a cgroup";
}

void cgroup_stat_open(struct cgroup_stat *c, const struct cgroup_target *target, struct run *run)
{
	struct sample first = { 0 };

	if (!metric_set_has_source(&run->usable, SOURCE_CGROUP))
		return;
	c->target = target;
	if (target)
		files_open(c);
	cgroup_stat_read(c, &run->usable, &first);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->source != SOURCE_CGROUP || !metric_has(&run->usable, id))
			continue;
		if (!sample_has(&first, id)) {
			run->usable.bits[i / 64] &= ~(1ULL << (i % 64));
			run->unusable[i] = why_absent(c, run, id);
		} else if (metric_get(id)->kind == KIND_COUNTER) {
			run->baseline[i] = c->last[i];
			metric_put(&run->baseline_have, id);
		}
	}
	sample_reset(&first);
}

void cgroup_stat_open_memory(struct cgroup_stat *c, const struct cgroup_target *target)
{
	c->target = target;
	file_open(c, target, CGROUP_STAT);
	file_open(c, target, CGROUP_KERNEL);
	file_open(c, target, CGROUP_PEAK);
}

bool cgroup_stat_watch(struct cgroup_stat *c, const struct cgroup_target *target)
{
	if (c->fd[CGROUP_USAGE] < 0)
		file_open(c, target, CGROUP_USAGE);
	return c->fd[CGROUP_USAGE] >= 0;
}

bool cgroup_stat_usage(const struct cgroup_stat *c, uint64_t *bytes)
{
	char text[FILE_BYTES];

	return read_file(c, CGROUP_USAGE, text) && find_value(text, NULL, bytes);
}

bool cgroup_stat_peak(const struct cgroup_stat *c, uint64_t *bytes)
{
	char text[FILE_BYTES];

	return read_file(c, CGROUP_PEAK, text) && find_value(text, NULL, bytes);
}

void cgroup_stat_done(struct cgroup_stat *c)
{
	files_close(c);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "collect/cgroup_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES 8192 /* memory.stat of version 2 takes 2 KiB */

/* By version; NULL: that version says it elsewhere. */
static const char *const names[2][NR_CGROUP_FILES] = {
	{
		[CGROUP_USAGE] = "memory.usage_in_bytes",
		[CGROUP_STAT] = "memory.stat",
		[CGROUP_KERNEL] = "memory.kmem.usage_in_bytes",
		[CGROUP_EVENTS] = "memory.oom_control",
		[CGROUP_PEAK] = "memory.max_usage_in_bytes",
	},
	{
		[CGROUP_USAGE] = "memory.current",
		[CGROUP_STAT] = "memory.stat",
		[CGROUP_SWAP] = "memory.swap.current",
		[CGROUP_EVENTS] = "memory.events",
		[CGROUP_PEAK] = "memory.peak",
	},
};

/* Where a value is; no key: the file is the number. "total_" is with the cgroups below. */
static const struct {
	enum metric_id id;
	struct {
		enum cgroup_file file;
		const char *key;
	} at[2];
} values[] = {
	{ M_cgroup_memory, { { CGROUP_USAGE, NULL }, { CGROUP_USAGE, NULL } } },
	{ M_cgroup_anon, { { CGROUP_STAT, "total_rss" }, { CGROUP_STAT, "anon" } } },
	{ M_cgroup_file, { { CGROUP_STAT, "total_cache" }, { CGROUP_STAT, "file" } } },
	{ M_cgroup_shmem, { { CGROUP_STAT, "total_shmem" }, { CGROUP_STAT, "shmem" } } },
	{ M_cgroup_kernel, { { CGROUP_KERNEL, NULL }, { CGROUP_STAT, "kernel" } } },
	{ M_cgroup_swap, { { CGROUP_STAT, "total_swap" }, { CGROUP_SWAP, NULL } } },
	{ M_cgroup_oom_kills, { { CGROUP_EVENTS, "oom_kill" }, { CGROUP_EVENTS, "oom_kill" } } },
};
#define NR_VALUES (sizeof(values) / sizeof(*values))

void cgroup_stat_init(struct cgroup_stat *c)
{
	*c = (struct cgroup_stat){ .pressure.fd = -1 };
	for (int i = 0; i < NR_CGROUP_FILES; i++)
		c->fd[i] = -1;
}

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

static bool read_file(const struct cgroup_stat *c, enum cgroup_file file, char text[FILE_BYTES])
{
	ssize_t n = c->fd[file] >= 0 ? pread(c->fd[file], text, FILE_BYTES - 1, 0) : -1;

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static bool needs_file(const struct cgroup_stat *c, const struct metric_set *usable,
		       enum cgroup_file file)
{
	for (size_t i = 0; i < NR_VALUES; i++)
		if (values[i].at[c->is_v2].file == file && metric_has(usable, values[i].id))
			return true;
	return false;
}

void cgroup_stat_read(struct cgroup_stat *c, const struct metric_set *usable, struct sample *smp)
{
	char text[FILE_BYTES];
	uint64_t value;

	for (int f = 0; f < NR_CGROUP_FILES; f++) {
		if (c->fd[f] < 0 || !needs_file(c, usable, (enum cgroup_file)f) ||
		    !read_file(c, (enum cgroup_file)f, text))
			continue;
		for (size_t i = 0; i < NR_VALUES; i++)
			if (values[i].at[c->is_v2].file == (enum cgroup_file)f &&
			    metric_has(usable, values[i].id) &&
			    find_value(text, values[i].at[c->is_v2].key, &value))
				sample_set(smp, values[i].id, value);
	}
	pressure_read(&c->pressure, usable, M_cgroup_memory_pressure_some,
		      M_cgroup_memory_pressure_full, smp);
}

static void open_files(struct cgroup_stat *c, const struct cgroup *cg)
{
	char path[5000];

	c->is_v2 = cg->is_v2;
	for (int i = 0; i < NR_CGROUP_FILES; i++) {
		if (!names[c->is_v2][i])
			continue;
		snprintf(path, sizeof(path), "%s/%s", cg->path, names[c->is_v2][i]);
		c->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (!c->is_v2)
		return;
	snprintf(path, sizeof(path), "%s/memory.pressure", cg->path);
	pressure_open(&c->pressure, path); /* where there is none, none is read */
}

static const char *why_not(const struct cgroup *cg, enum metric_id id)
{
	if (!cg)
		return "the command has no cgroup of its own; see --own-cgroup";
	if (!cg->is_v2 &&
	    (id == M_cgroup_memory_pressure_some || id == M_cgroup_memory_pressure_full))
		return "only a cgroup of version 2 tells it";
	return "kernel does not tell it of a cgroup";
}

/* What can be had is what can be read now. */
void cgroup_stat_open(struct cgroup_stat *c, const struct cgroup *cg, struct run *run)
{
	struct sample first = { 0 };

	if (!metric_set_has_source(&run->usable, SOURCE_CGROUP))
		return;
	if (cg) {
		open_files(c, cg);
		cgroup_stat_read(c, &run->usable, &first);
	}
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->source != SOURCE_CGROUP || !metric_has(&run->usable, id) ||
		    sample_has(&first, id))
			continue;
		run->usable.bits[i / 64] &= ~(1ULL << (i % 64));
		run->unusable[i] = why_not(cg, id);
	}
	sample_reset(&first);
}

bool cgroup_stat_peak(const struct cgroup_stat *c, uint64_t *bytes)
{
	char text[FILE_BYTES];

	return read_file(c, CGROUP_PEAK, text) && find_value(text, NULL, bytes);
}

void cgroup_stat_done(struct cgroup_stat *c)
{
	for (int i = 0; i < NR_CGROUP_FILES; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
	pressure_done(&c->pressure);
}

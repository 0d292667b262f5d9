// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta_limits.h"

#include "base/cgroup.h"
#include "run/meta_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED (1ULL << 60) /* version 1 writes "no limit" as a number, a little below 2^63 */

/* A cgroup in its hierarchy: the first @mount bytes of the folder are the mount point. */
struct place {
	char folder[4096];
	size_t mount;
	bool is_v2;
};

static const struct cgroup_file {
	enum limit_id id;
	const char *controller, *v2, *v1; /* NULL: no such file in that version */
} files[] = {
	{ LIMIT_MEMORY_MAX, "memory", "/memory.max", "/memory.limit_in_bytes" },
	{ LIMIT_MEMORY_HIGH, "memory", "/memory.high", NULL },
	{ LIMIT_SWAP_MAX, "memory", "/memory.swap.max", NULL },
	{ LIMIT_MEMORY_SWAP_MAX, "memory", NULL, "/memory.memsw.limit_in_bytes" },
	{ LIMIT_PIDS_MAX, "pids", "/pids.max", "/pids.max" },
};

/* False: there is no limit. */
static bool limit_parse(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !errno;
}

static void limits_lower_by_file(struct limits *l, const char *folder, const struct cgroup_file *f,
				 bool is_v2)
{
	const char *name = is_v2 ? f->v2 : f->v1;
	char line[64];
	uint64_t value;

	if (name && !file_read_line(folder, name, line, sizeof(line)) &&
	    limit_parse(line, &value) && value < UNLIMITED)
		limit_lower(l, f->id, value);
}

/* The quota of CPU time in each period, both in microseconds. */
static void limits_lower_cpu(struct limits *l, const char *folder, bool is_v2)
{
	char line[64], period[64] = "";
	uint64_t quota_us, period_us;

	if (file_read_line(folder, is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us", line, sizeof(line)))
		return;
	if (is_v2)
		snprintf(period, sizeof(period), "%s",
			 line + strcspn(line, " ") + !!strchr(line, ' '));
	else
		file_read_line(folder, "/cpu.cfs_period_us", period, sizeof(period));
	if (limit_parse(line, &quota_us) && limit_parse(period, &period_us) && period_us &&
	    quota_us < UNLIMITED / 1000)
		limit_lower(l, LIMIT_CPU_MAX, quota_us * 1000 / period_us);
}

/* Of @p and each visible cgroup above it the smallest limit counts. */
static void limits_lower_upwards(struct limits *l, struct place p, const char *controller)
{
	for (;;) {
		char *end = strrchr(p.folder, '/');

		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
			if (!strcmp(files[i].controller, controller))
				limits_lower_by_file(l, p.folder, &files[i], p.is_v2);
		if (!strcmp(controller, "cpu"))
			limits_lower_cpu(l, p.folder, p.is_v2);
		if (!end || (size_t)(end - p.folder) < p.mount)
			return;
		*end = '\0';
	}
}

static int place_find(const char *self, const char *proc, const char *controller, struct place *p,
		      char path[4096])
{
	int id, err = cgroup_of_process(proc, controller, path, &p->is_v2, &id);

	return err ? err
		   : cgroup_find_folder(self, p->is_v2 ? NULL : controller, path, p->folder,
					&p->mount);
}

/* The process will be moved to @own. */
static void place_set_own(struct place *p, const struct cgroup *own)
{
	if (own && own->is_v2 == p->is_v2 && strlen(own->path) >= p->mount)
		memcpy(p->folder, own->path, sizeof(p->folder));
}

/* The rows of /proc/PID/limits: a name, the soft limit, the hard one, the unit. */
static void limits_read_resources(const char *proc, struct limits *l)
{
	static const struct {
		enum limit_id id;
		const char *name;
	} rows[] = {
		{ LIMIT_AS, "Max address space" },    { LIMIT_DATA, "Max data size" },
		{ LIMIT_STACK, "Max stack size" },    { LIMIT_FSIZE, "Max file size" },
		{ LIMIT_CORE, "Max core file size" }, { LIMIT_MEMLOCK, "Max locked memory" },
		{ LIMIT_NOFILE, "Max open files" },   { LIMIT_NPROC, "Max processes" },
		{ LIMIT_CPU_TIME, "Max cpu time" },
	};
	char text[4096];

	file_read_text(proc, "/limits", text, sizeof(text));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *at = strstr(text, rows[i].name);
		uint64_t value;

		if (!at)
			continue;
		at += strlen(rows[i].name);
		if (limit_parse(at + strspn(at, " "), &value))
			limit_lower(l, rows[i].id, value);
	}
}

static __attribute__((noinline)) void limits_read_affinity(const char *proc, struct limits *l)
{
	char text[16384];
	const char *at;
	size_t n;

	file_read_text(proc, "/status", text, sizeof(text));
	at = text_value(text, "Cpus_allowed_list", ':', &n);
	if (at)
		text_copy(l->cpus_allowed, sizeof(l->cpus_allowed), at, n);
	at = text_value(text, "Mems_allowed_list", ':', &n);
	if (at)
		text_copy(l->mems_allowed, sizeof(l->mems_allowed), at, n);
}

static const char *const controllers[] = { "memory", "pids", "cpu" };

void limits_of_process(const char *self, const char *proc, const struct cgroup *own,
		       struct limits *l)
{
	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++) {
		char path[4096];
		struct place p;

		if (place_find(self, proc, controllers[i], &p, path))
			continue;
		if (!i && !own)
			memcpy(l->cgroup, path, sizeof(l->cgroup));
		/* in version 1 @own is in the hierarchy of memory only */
		if (!i || p.is_v2)
			place_set_own(&p, own);
		limits_lower_upwards(l, p, controllers[i]);
	}
	limits_read_affinity(proc, l);
	limits_read_resources(proc, l);
}

/* The same path in the hierarchy of @controller. */
static int place_find_twin(const char *self, const struct cgroup_target *t, const char *controller,
			   struct place *p)
{
	const char *rest = t->cg.path + t->mount_bytes;
	int err = cgroup_target_find_twin(self, t, controller, p->folder);

	if (!err)
		p->mount = strlen(p->folder) - strlen(rest);
	return err;
}

void limits_of_cgroup(const char *self, const struct cgroup_target *t, struct limits *l)
{
	struct place p = { .is_v2 = t->cg.is_v2 };

	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
		if (!place_find_twin(self, t, controllers[i], &p))
			limits_lower_upwards(l, p, controllers[i]);
	if (place_find_twin(self, t, "cpuset", &p))
		return;
	file_read_line(p.folder, p.is_v2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus",
		       l->cpus_allowed, sizeof(l->cpus_allowed));
	file_read_line(p.folder, p.is_v2 ? "/cpuset.mems.effective" : "/cpuset.effective_mems",
		       l->mems_allowed, sizeof(l->mems_allowed));
}

// SPDX-License-Identifier: BSD-2-Clause
#include "agent/cgroups.h"

#include "base/cgroup.h"
#include "base/memory.h"
#include "run/meta_cgroup.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS: the handle is just the id */
#define ROOT_ID 1          /* root cgroup of any hierarchy */

static bool mount_is_wanted(const struct cgroup_mount *m, const char *hierarchy)
{
	if (!strcmp(hierarchy, "unified"))
		return m->is_v2;
	return !m->is_v2 && cgroup_mount_has(m, hierarchy);
}

static int mount_find(const char *hierarchy, char point[4096])
{
	FILE *f = cgroup_mounts_open("/proc/self");
	struct cgroup_mount m;
	bool is_there = false;

	while (f && !is_there && cgroup_mount_next(f, &m))
		is_there = mount_is_wanted(&m, hierarchy);
	if (f)
		fclose(f);
	if (is_there)
		memcpy(point, m.point, sizeof(m.point));
	return is_there ? 0 : -ENOENT;
}

/*
 * "auto" means the unified hierarchy where it is the only one; else one in which batch systems and
 * containers create cgroups.
 */
static const char *hierarchy_choose(const char *hierarchy, char point[4096])
{
	static const char *const of_version_1[] = { "memory", "freezer", "cpuacct", "unified" };
	struct statfs fs;

	if (strcmp(hierarchy, "auto") != 0)
		return mount_find(hierarchy, point) ? NULL : hierarchy;
	if (!statfs("/sys/fs/cgroup", &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return mount_find("unified", point) ? NULL : "unified";
	for (size_t i = 0; i < sizeof(of_version_1) / sizeof(*of_version_1); i++)
		if (!mount_find(of_version_1[i], point))
			return of_version_1[i];
	return NULL;
}

int cgroups_find_root(const char *hierarchy, struct cgroup_target *root, char *why, size_t size)
{
	char point[4096];

	if (hierarchy_choose(hierarchy, point))
		return cgroup_target_find("/proc/self", point, root, why, size);
	snprintf(why, size,
		 "no cgroup hierarchy '%s' is mounted; set 'hierarchy' in the configuration",
		 hierarchy);
	return -ENOENT;
}

/* Returns the index of @id, or where it would be inserted. */
static size_t cgroup_place(const struct cgroups *c, uint64_t id)
{
	size_t from = 0, to = c->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->all[middle]->id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct known_cgroup *cgroups_find(const struct cgroups *c, uint64_t id)
{
	size_t at = cgroup_place(c, id);

	return at < c->nr && c->all[at]->id == id ? c->all[at] : NULL;
}

/*
 * Returns an O_PATH descriptor of the cgroup, or a negative errno; -ESTALE if the id does not
 * exist.
 */
static int cgroup_open_id(const struct cgroups *c, uint64_t id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS_HANDLE } };
	int fd;

	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(c->point_fd, &h.handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool cgroups_has_id(const struct cgroups *c, uint64_t id)
{
	int fd = cgroup_open_id(c, id);

	if (fd >= 0)
		close(fd);
	return fd != -ESTALE && fd != -ENOENT;
}

int cgroups_try_handles(const struct cgroups *c)
{
	int fd = c->nr ? cgroup_open_id(c, c->all[0]->id) : 0;

	if (fd > 0)
		close(fd);
	return fd < 0 && fd != -ESTALE && fd != -ENOENT ? fd : 0;
}

/* Returns the path of an existing cgroup; NULL if the id does not exist. */
static char *cgroup_path_by_id(const struct cgroups *c, uint64_t id)
{
	int fd = cgroup_open_id(c, id);
	char link[64], path[4096];
	size_t skipped = strlen(c->point);
	ssize_t n;

	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n < (ssize_t)skipped)
		return NULL;
	path[n] = '\0';
	/* a cgroup above the mounted part has a path elsewhere */
	if (strncmp(path, c->point, skipped) != 0 || (path[skipped] && path[skipped] != '/'))
		return NULL;
	return memory_strdup(path[skipped] ? path + skipped : "/");
}

static bool cgroups_make_room(struct cgroups *c)
{
	size_t room = c->room ? c->room * 2 : 256;
	struct known_cgroup **all;

	if (c->nr < c->room)
		return true;
	all = memory_reallocarray(c->all, room, sizeof(*all));
	if (!all)
		return false;
	c->all = all;
	c->room = room;
	return true;
}

struct known_cgroup *cgroups_find_or_add(struct cgroups *c, uint64_t id, const char *path)
{
	size_t at = cgroup_place(c, id);
	struct known_cgroup *one;

	if (at < c->nr && c->all[at]->id == id)
		return c->all[at];
	one = cgroups_make_room(c) ? memory_calloc(1, sizeof(*one)) : NULL;
	if (!one)
		return NULL;
	one->id = id;
	one->path = path ? memory_strdup(path) : cgroup_path_by_id(c, id);
	memmove(&c->all[at + 1], &c->all[at], (c->nr - at) * sizeof(*c->all));
	c->all[at] = one;
	c->nr++;
	return one;
}

static void cgroup_free(struct known_cgroup *one)
{
	free(one->path);
	free(one);
}

void cgroups_forget(struct cgroups *c, struct known_cgroup *one)
{
	size_t at = cgroup_place(c, one->id);

	c->nr--;
	memmove(&c->all[at], &c->all[at + 1], (c->nr - at) * sizeof(*c->all));
	cgroup_free(one);
}

bool cgroups_has(const struct cgroups *c, const char *path, unsigned depth)
{
	const char *end = path;
	char name[4096];
	struct stat st;

	for (unsigned i = 0; i < depth && *end; i++)
		end += 1 + strcspn(end + 1, "/");
	while (*path == '/' && path < end)
		path++;
	if (snprintf(name, sizeof(name), "%.*s", (int)(end - path), path) >= (int)sizeof(name))
		return true; /* a path that cannot be checked is not known to be removed */
	return !fstatat(c->point_fd, *name ? name : ".", &st, 0);
}

uint64_t cgroups_id_of(const struct cgroups *c, const char *path)
{
	struct stat st;

	return path && path[1] && !fstatat(c->point_fd, path + 1, &st, 0) ? st.st_ino : 0;
}

int cgroups_open(struct cgroups *c, const struct cgroup_target *root)
{
	char *const points[] = { c->point, NULL };
	size_t skipped;
	FTSENT *e;
	FTS *f;

	memset(c, 0, sizeof(*c));
	c->point_fd = open(root->cg.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->point_fd < 0)
		return -errno;
	snprintf(c->point, sizeof(c->point), "%s", root->cg.path);
	c->is_whole = root->id == ROOT_ID;
	if (!root->cg.is_v2 && mount_find("cpu", c->cpu_point))
		*c->cpu_point = '\0';
	skipped = strlen(c->point);
	f = fts_open(points, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!f)
		return -errno;
	while ((e = fts_read(f)))
		if (e->fts_info == FTS_D &&
		    !cgroups_find_or_add(c, e->fts_statp->st_ino,
					 e->fts_pathlen > skipped ? e->fts_path + skipped : "/"))
			break;
	fts_close(f);
	return e ? -ENOMEM : 0;
}

void cgroups_done(struct cgroups *c)
{
	for (size_t i = 0; i < c->nr; i++)
		cgroup_free(c->all[i]);
	free(c->all);
	if (c->point_fd > 0)
		close(c->point_fd);
	memset(c, 0, sizeof(*c));
	c->point_fd = -1;
}

/* In version 2 the runtime, and not the kubelet, computes the weight of a container. */
static bool label_has_request(const struct job_label *l, bool is_v2)
{
	const char *in = strstr(l->cgroup, "kubepods"), *own = strrchr(l->cgroup, '/');

	if (is_v2 || !in || own < in || !strcmp(l->kind, "pod"))
		return in && !strcmp(l->kind, "pod");
	while (own[-1] != '/')
		own--;
	in = strstr(own, "pod"); /* of the cgroup around it */
	return in && in < strchr(own, '/');
}

bool cgroups_read_limits(const struct cgroups *c, const struct cgroup *cg, bool with_request,
			 struct job_label *label)
{
	static struct limits l; /* too large for the stack, like the next one */
	static struct cgroup of_cpu;
	struct job_bounds now = { 0 };
	const char *point = cg->is_v2 ? c->point : c->cpu_point;
	const char *path = cg->path + strlen(c->point);

	l.have = 0;
	limits_of_folder(cg, strlen(c->point), "memory", &l);
	of_cpu.is_v2 = cg->is_v2;
	if (*point && snprintf(of_cpu.path, sizeof(of_cpu.path), "%s%s", point, path) <
			      (int)sizeof(of_cpu.path)) {
		limits_of_folder(&of_cpu, strlen(point), "cpu", &l);
		if (with_request && label_has_request(label, cg->is_v2))
			now.cpu_request_milli = cpu_request_of_folder(&of_cpu, strlen(point));
	}
	if (access(cg->path, F_OK)) /* removed: those read are of the cgroups above */
		return false;
	now.memory_max_bytes = limit_has(&l, LIMIT_MEMORY_MAX) ? l.value[LIMIT_MEMORY_MAX] : 0;
	now.cpu_max_milli = limit_has(&l, LIMIT_CPU_MAX) ? l.value[LIMIT_CPU_MAX] : 0;
	if (!memcmp(&now, &label->bounds, sizeof(now)))
		return false;
	label->bounds = now;
	return true;
}

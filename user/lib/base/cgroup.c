// SPDX-License-Identifier: BSD-2-Clause
#include "base/cgroup.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROLLER "memory"
#define NAMES_TRIED 8
#define ENDING_TRIES 20 /* tries of 5 ms each: a killed process may take that long to end */
#define ENDING_US 5000

static FILE *cgroup_open_file(const char *folder, const char *name)
{
	char path[5000];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return memory_fopen(path, "re");
}

/* Returns true if @cg has the controller enabled for its children. */
static bool cgroup_delegates(const struct cgroup *cg)
{
	__cleanup(fclosep) FILE *f = cgroup_open_file(cg->path, "cgroup.subtree_control");
	char line[512];

	return f && fgets(line, sizeof(line), f) && list_has_word(line, CONTROLLER, " \n");
}

int cgroup_find_parent(const char *proc, struct cgroup *parent, char *why, size_t size)
{
	char path[4096], *end;
	size_t mount = 0;
	int id, err = cgroup_of_process(proc, CONTROLLER, path, &parent->is_v2, &id);

	if (!err)
		err = cgroup_find_folder(proc, parent->is_v2 ? NULL : CONTROLLER, path,
					 parent->path, &mount);
	if (err) {
		snprintf(why, size, "the cgroup hierarchy of the memory controller is not mounted");
		return err;
	}
	/*
	 * a cgroup with processes cannot enable a controller for children: usually an ancestor has
	 * it
	 */
	while (parent->is_v2 && !cgroup_delegates(parent)) {
		end = strrchr(parent->path, '/');
		if (!end || (size_t)(end - parent->path) < mount) {
			snprintf(why, size, "no cgroup from '%s' upwards %s", path,
				 "has 'memory' in its cgroup.subtree_control");
			return -ENOENT;
		}
		*end = '\0';
	}
	return 0;
}

int cgroup_make(const char *proc, struct cgroup *cg, char *why, size_t size)
{
	struct cgroup parent;
	int err = cgroup_find_parent(proc, &parent, why, size);

	if (err)
		return err;
	cg->is_v2 = parent.is_v2;
	/* the name may be taken by a leftover, or by a process of another PID namespace */
	for (int i = 0; i < NAMES_TRIED; i++) {
		char more[16] = "";
		int n;

		if (i)
			snprintf(more, sizeof(more), "-%d", i);
		n = snprintf(cg->path, sizeof(cg->path), "%s/bpfmon-%d%s", parent.path, getpid(),
			     more);
		if (n < 0 || (size_t)n >= sizeof(cg->path))
			err = -ENAMETOOLONG;
		else
			err = mkdir(cg->path, 0755) ? -errno : 0;
		if (err != -EEXIST)
			break;
	}
	if (err)
		snprintf(why, size, "cannot create a cgroup in '%s': %s%s", parent.path,
			 strerror(-err),
			 err == -EACCES || err == -EPERM
				 ? "; use sudo, or start bpfmon in a cgroup delegated to its user"
				 : "");
	return err;
}

int cgroup_join(const struct cgroup *cg)
{
	char path[5000];
	__cleanup(closep) int fd = -1;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cg->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
}

int cgroup_remove(const struct cgroup *cg)
{
	int err = 0;

	for (int i = 0; i < ENDING_TRIES; i++) {
		if (!rmdir(cg->path) || errno == ENOENT)
			return 0;
		err = -errno;
		if (err != -EBUSY)
			break;
		usleep(ENDING_US);
	}
	return err;
}

bool list_has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, separators);

		if (n == length && !memcmp(list, word, n))
			return true;
		list += n;
		list += strspn(list, separators);
	}
	return false;
}

static FILE *cgroup_open_proc(const char *proc, const char *name)
{
	char path[5000];

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	return memory_fopen(path, "re");
}

FILE *cgroup_mounts_open(const char *proc)
{
	return cgroup_open_proc(proc, "mountinfo");
}

static bool mountinfo_is_octal(const char *digits)
{
	return strspn(digits, "01234567") >= 3;
}

void mountinfo_unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\\' && mountinfo_is_octal(from + 1)) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

bool cgroup_mount_next(FILE *f, struct cgroup_mount *m)
{
	__cleanup(freep) char *line = NULL;
	size_t room = 0;

	while (f && memory_getline(&line, &room, f) > 0) {
		const char *dash = strstr(line, " - ");
		char type[32];

		/* the cheap test first: a host of containers has thousands of other mounts */
		if (!dash || strncmp(dash + 3, "cgroup", 6) != 0)
			continue;
		if (sscanf(line, "%*s %*s %*s %4095s %4095s", m->root, m->point) != 2 ||
		    sscanf(dash + 3, "%31s %*s %511s", type, m->options) != 2)
			continue;
		m->is_v2 = !strcmp(type, "cgroup2");
		if (!m->is_v2 && strcmp(type, "cgroup") != 0)
			continue;
		mountinfo_unescape(m->root);
		mountinfo_unescape(m->point);
		return true;
	}
	return false;
}

bool cgroup_mount_has(const struct cgroup_mount *m, const char *controller)
{
	return !m->is_v2 && list_has_word(m->options, controller, ",\n");
}

int cgroup_of_process(const char *proc, const char *controller, char path[4096], bool *is_v2,
		      int *id)
{
	__cleanup(fclosep) FILE *f = cgroup_open_proc(proc, "cgroup");
	char line[4352];
	bool found = false;

	while (f && fgets(line, sizeof(line), f)) { /* lines like 4:cpu,memory:/a/b and 0::/a/b */
		char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
		bool is_it;

		if (!at)
			continue;
		*list++ = '\0';
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		is_it = controller && list_has_word(list, controller, ",");
		if (!is_it && *list)
			continue;
		snprintf(path, 4096, "%s", at);
		*is_v2 = !is_it;
		*id = atoi(line);
		if (is_it)
			return 0;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

const char *cgroup_path_below(const char *path, const char *root)
{
	size_t n = strcmp(root, "/") != 0 ? strlen(root) : 0;

	if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	path += n;
	if (!strncmp(path, "/..", 3)) /* above the root of our cgroup namespace */
		return NULL;
	return strcmp(path, "/") != 0 ? path : "";
}

int cgroup_find_folder(const char *proc, const char *controller, const char *path,
		       char folder[4096], size_t *mount)
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open(proc);
	struct cgroup_mount m;

	while (cgroup_mount_next(f, &m)) {
		const char *rest;
		int n;

		if (controller ? !cgroup_mount_has(&m, controller) : !m.is_v2)
			continue;
		rest = cgroup_path_below(path, m.root);
		n = rest ? snprintf(folder, 4096, "%s%s", m.point, rest) : -1;
		if (n < 0 || n >= 4096)
			continue;
		*mount = strlen(m.point);
		return 0;
	}
	return -ENOENT;
}

/* Controllers that identify a version 1 hierarchy, in order of preference. */
static const char *const controllers[] = { "memory",   "cpuacct", "cpu",    "pids",    "blkio",
					   "freezer",  "devices", "cpuset", "net_cls", "perf_event",
					   "net_prio", "hugetlb", "rdma",   "misc" };
#define NR_CONTROLLERS (sizeof(controllers) / sizeof(*controllers))

/*
 * Returns 0 for the unified hierarchy, else the place in the table from 1 on; NR_CONTROLLERS + 1 if
 * it has no such controller.
 */
static size_t cgroup_mount_rank(const struct cgroup_mount *m)
{
	for (size_t i = 0; !m->is_v2 && i < NR_CONTROLLERS; i++)
		if (cgroup_mount_has(m, controllers[i]))
			return i + 1;
	return m->is_v2 ? 0 : NR_CONTROLLERS + 1;
}

static __attribute__((noinline)) bool folder_is_cgroup(const char *folder)
{
	char path[8300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	return !stat(path, &st);
}

/* Returns the part of @path below @point, or NULL if it is elsewhere. */
static const char *mount_point_below(const char *path, const char *point)
{
	size_t n = strlen(point);

	if (strncmp(path, point, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

/* Sets @t to the cgroup of the folder @path in the mount @m. */
static void cgroup_target_set(struct cgroup_target *t, const struct cgroup_mount *m,
			      const char *path)
{
	size_t at = cgroup_mount_rank(m),
	       root_bytes = strcmp(m->root, "/") != 0 ? strlen(m->root) : 0;
	const char *rest = path + strlen(m->point);
	int n;

	t->cg.is_v2 = m->is_v2;
	t->mount_bytes = strlen(m->point);
	snprintf(t->cg.path, sizeof(t->cg.path), "%s", path);
	snprintf(t->controller, sizeof(t->controller), "%s",
		 at && at <= NR_CONTROLLERS ? controllers[at - 1] : "");
	n = snprintf(t->in_kernel, sizeof(t->in_kernel), "%.*s%s", (int)root_bytes, m->root,
		     root_bytes || *rest ? rest : "/");
	if (n < 0 || (size_t)n >= sizeof(t->in_kernel) || !strncmp(m->root, "/..", 3))
		t->in_kernel[0] = '\0';
}

/*
 * Finds a cgroup by its absolute folder, which belongs to the hierarchy of the nearest mount point
 * above it.
 */
static int cgroup_target_find_folder(const char *proc, const char *path, struct cgroup_target *t)
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open(proc);
	struct cgroup_mount m;
	size_t longest = 0;

	while (cgroup_mount_next(f, &m)) {
		size_t n = strlen(m.point);

		if (n < longest || !mount_point_below(path, m.point))
			continue;
		longest = n;
		cgroup_target_set(t, &m, path);
	}
	return longest && folder_is_cgroup(path) ? 0 : -ENOENT;
}

/* Finds a cgroup by its path below some mount point. */
static __attribute__((noinline)) int cgroup_target_find_below(const char *proc, const char *name,
							      struct cgroup_target *t)
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open(proc);
	size_t best = NR_CONTROLLERS + 2;
	struct cgroup_mount m;
	char path[sizeof(t->cg.path)];

	while (cgroup_mount_next(f, &m)) {
		size_t n = (size_t)snprintf(path, sizeof(path), "%s/%s", m.point, name);

		if (n >= sizeof(t->cg.path) || cgroup_mount_rank(&m) >= best ||
		    !folder_is_cgroup(path))
			continue;
		best = cgroup_mount_rank(&m);
		cgroup_target_set(t, &m, path);
	}
	return best < NR_CONTROLLERS + 2 ? 0 : -ENOENT;
}

/* Writes the message for a name that was not found, with the mount points of the hierarchies. */
static __attribute__((noinline)) void cgroup_target_explain(const char *proc, const char *name,
							    char *why, size_t size)
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open(proc);
	char v2[4096] = "", v1[1024] = "";
	struct cgroup_mount m;
	struct stat st;
	int n = snprintf(why, size,
			 stat(name, &st) ? "no cgroup '%s'" : "'%s' is not a cgroup directory",
			 name);

	while (cgroup_mount_next(f, &m)) {
		if (m.is_v2)
			snprintf(v2, sizeof(v2), "%s", m.point);
		else if (cgroup_mount_rank(&m) <= NR_CONTROLLERS &&
			 strlen(v1) + strlen(m.point) + 3 < sizeof(v1))
			snprintf(v1 + strlen(v1), sizeof(v1) - strlen(v1), "%s%s", *v1 ? ", " : "",
				 m.point);
	}
	if (n < 0 || (size_t)n >= size)
		return;
	if (*v1)
		snprintf(why + n, size - (size_t)n, "; cgroup v1 is at %s%s%s", v1,
			 *v2 ? ", cgroup v2 at " : "", v2);
	else
		snprintf(why + n, size - (size_t)n, "; cgroups are %s%s",
			 *v2 ? "v2 here, at " : "not mounted here", v2);
}

uint64_t cgroup_target_id(const struct cgroup_target *t)
{
	struct stat st;

	return stat(t->cg.path, &st) ? 0 : st.st_ino;
}

int cgroup_target_find(const char *proc, const char *name, struct cgroup_target *t, char *why,
		       size_t size)
{
	__cleanup(freep) char *real = memory_realpath(name, NULL);
	char path[4096];
	bool is_v2;
	int err = real ? cgroup_target_find_folder(proc, real, t) : -ENOENT;

	if (err && *name)
		err = cgroup_target_find_below(proc, name + strspn(name, "/"), t);
	if (err) {
		cgroup_target_explain(proc, name, why, size);
		return err;
	}
	if (!t->cg.is_v2 && !t->controller[0]) {
		snprintf(
			why, size, "'%s' is in a hierarchy without a controller; %s", t->cg.path,
			"give the cgroup in a hierarchy with a controller, such as memory or pids");
		return -EINVAL;
	}
	err = cgroup_of_process(proc, t->cg.is_v2 ? NULL : t->controller, path, &is_v2,
				&t->hierarchy);
	t->id = cgroup_target_id(t);
	if (err || !t->id)
		snprintf(why, size, "the cgroup '%s' has just been removed", t->cg.path);
	return err || !t->id ? -ENOENT : 0;
}

int cgroup_target_find_twin(const char *proc, const struct cgroup_target *t, const char *controller,
			    char path[4096])
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open(proc);
	const char *rest = t->cg.path + t->mount_bytes;
	struct cgroup_mount m;

	if (t->cg.is_v2 || !strcmp(controller, t->controller)) {
		snprintf(path, 4096, "%s", t->cg.path);
		return 0;
	}
	while (cgroup_mount_next(f, &m)) {
		if (!cgroup_mount_has(&m, controller))
			continue;
		if (snprintf(path, 4096, "%s%s", m.point, rest) < 4096 && folder_is_cgroup(path))
			return 0;
	}
	return -ENOENT;
}

unsigned cgroup_target_depth(const struct cgroup_target *t)
{
	unsigned depth = t->in_kernel[0] ? 1 : 0;

	for (const char *c = t->in_kernel; *c; c++)
		depth += *c == '/' && c[1];
	return depth;
}

static int tasks_file_is_populated(const char *path, const struct stat *st, int type,
				   struct FTW *at)
{
	__cleanup(fclosep) FILE *f = NULL;

	(void)st;
	if (type != FTW_F || strcmp(path + at->base, "tasks") != 0)
		return 0;
	f = memory_fopen(path, "re");
	return f && fgetc(f) != EOF;
}

bool cgroup_target_is_populated(const struct cgroup_target *t)
{
	char path[4200], line[64];
	__cleanup(fclosep) FILE *f = NULL;

	if (!t->cg.is_v2)
		return nftw(t->cg.path, tasks_file_is_populated, 16, FTW_PHYS) > 0;
	snprintf(path, sizeof(path), "%s/cgroup.events", t->cg.path);
	f = memory_fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strcmp(line, "populated 0\n"))
			return false;
	return true; /* the root has no such file and always has processes */
}

// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta_cgroup.h"

#include "base/cgroup.h"
#include "base/text.h"
#include "run/meta.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNLIMITED (1ULL << 60) /* version 1 writes "no limit" as a number slightly below 2^63 */

/* A cgroup in its hierarchy. The first @mount bytes of @folder are the mount point. */
struct place {
	char folder[4096];
	size_t mount;
	bool is_v2;
};

static const struct cgroup_file {
	enum limit_id id;
	const char *controller, *v2, *v1; /* NULL: that version has no such file */
} files[] = {
	{ LIMIT_MEMORY_MAX, "memory", "/memory.max", "/memory.limit_in_bytes" },
	{ LIMIT_MEMORY_HIGH, "memory", "/memory.high", NULL },
	{ LIMIT_SWAP_MAX, "memory", "/memory.swap.max", NULL },
	{ LIMIT_MEMORY_SWAP_MAX, "memory", NULL, "/memory.memsw.limit_in_bytes" },
	{ LIMIT_PIDS_MAX, "pids", "/pids.max", "/pids.max" },
};

/* Returns false if there is no limit. */
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

/* Applies the quota of CPU time per period, both in microseconds. */
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

/* Applies the smallest limit of @p and its visible ancestors. */
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

/* Replaces the folder by @own, to which the process will be moved. */
static void place_set_own(struct place *p, const struct cgroup *own)
{
	if (own && own->is_v2 == p->is_v2 && strlen(own->path) >= p->mount)
		memcpy(p->folder, own->path, sizeof(p->folder));
}

/* Parses the rows of /proc/PID/limits: name, soft limit, hard limit, unit. */
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
		/* in version 1 @own is only in the memory hierarchy */
		if (!i || p.is_v2)
			place_set_own(&p, own);
		limits_lower_upwards(l, p, controllers[i]);
	}
	limits_read_affinity(proc, l);
	limits_read_resources(proc, l);
}

/* Finds the same path in the hierarchy of @controller. */
static int place_find_twin(const char *self, const struct cgroup_target *t, const char *controller,
			   struct place *p)
{
	const char *rest = t->cg.path + t->mount_bytes;
	int err = cgroup_target_find_twin(self, t, controller, p->folder);

	if (!err)
		p->mount = strlen(p->folder) - strlen(rest);
	return err;
}

void limits_of_folder(const struct cgroup *cg, size_t mount_bytes, const char *controller,
		      struct limits *l)
{
	struct place p = { .mount = mount_bytes, .is_v2 = cg->is_v2 };

	memcpy(p.folder, cg->path, sizeof(p.folder));
	limits_lower_upwards(l, p, controller);
}

/* The kubelet gives a pod 1,024 shares for each core of its request, and at least 2. */
#define SHARES_OF_CORE 1024
#define LEAST_SHARES 2
#define MOST_SHARES 262144
#define MOST_WEIGHT 10000

static uint64_t number_read(const char *folder, const char *name)
{
	char line[64];
	uint64_t value;

	return !file_read_line(folder, name, line, sizeof(line)) && limit_parse(line, &value)
		       ? value
		       : 0;
}

/* The least shares that the kubelet converts to @weight. */
static uint64_t shares_of_weight(uint64_t weight)
{
	if (!weight || weight > MOST_WEIGHT)
		return 0;
	return LEAST_SHARES +
	       ((weight - 1) * (MOST_SHARES - LEAST_SHARES) + MOST_WEIGHT - 2) / (MOST_WEIGHT - 1);
}

static uint64_t request_of_shares(uint64_t shares)
{
	return shares <= LEAST_SHARES ? 0 : (shares * 1000 + SHARES_OF_CORE - 1) / SHARES_OF_CORE;
}

static uint64_t request_of_weight(const char *folder)
{
	return request_of_shares(shares_of_weight(number_read(folder, "/cpu.weight")));
}

uint64_t cpu_request_of_folder(const struct cgroup *cg, size_t mount_bytes)
{
	const uint64_t most = (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 1000;
	char folder[sizeof(cg->path)], *all;

	if (!cg->is_v2)
		return request_of_shares(number_read(cg->path, "/cpu.shares"));
	memcpy(folder, cg->path, sizeof(folder));
	all = strstr(folder + mount_bytes, "kubepods");
	if (!all)
		return 0;
	all[strcspn(all, "/")] = '\0';
	/* the request of all pods is above that of all CPUs: this kubelet uses another formula */
	return request_of_weight(folder) > most ? 0 : request_of_weight(cg->path);
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

#define ID_BYTES 12 /* minimum; engines use 64 or 32 digits */
#define POD_PREFIX "pod"

/* Engines' names of container cgroups: a prefix, then an id (@is_hex) or a name. */
static const struct pattern {
	const char *prefix, *engine;
	bool is_hex;
} patterns[] = {
	{ "docker-", "docker", true },
	{ "libpod-", "podman", true },
	{ "cri-containerd-", "containerd", true },
	{ "nerdctl-", "containerd", true },
	{ "crio-", "cri-o", true },
	{ "lxc.payload.", "lxc", false },
	{ "apptainer-", "apptainer", false },
};

/* Cgroups whose children are container cgroups, or parts of one. */
static const struct pattern folders[] = {
	{ "docker", "docker", true },
	{ "ecs", "docker", true },
	{ "lxc", "lxc", false },
	{ "buildkit", "buildkit", false },
	{ "libpod_parent", "podman", true },
};

static bool container_is_id(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return n >= ID_BYTES && n <= 64;
}

static bool container_take_match(struct container_info *c, const struct pattern *p,
				 const char *rest, size_t n)
{
	if (p->is_hex ? !container_is_id(rest, n) : !n)
		return false;
	snprintf(c->engine, sizeof(c->engine), "%s", p->engine);
	text_copy(p->is_hex ? c->id : c->name, p->is_hex ? sizeof(c->id) : sizeof(c->name), rest,
		  n);
	return true;
}

/* Extracts the pod's UID from podUID.slice in kubepods.slice, with _ for -, or from podUID. */
static void container_take_pod(struct container_info *c, const char *part, size_t n)
{
	const char *at = NULL;

	for (size_t i = 0; i + strlen(POD_PREFIX) < n; i++)
		if ((!i || part[i - 1] == '-') && !memcmp(part + i, POD_PREFIX, strlen(POD_PREFIX)))
			at = part + i + strlen(POD_PREFIX);
	if (!at)
		return;
	text_copy(c->pod, sizeof(c->pod), at, (size_t)(part + n - at));
	for (char *digit = c->pod; *digit; digit++)
		if (*digit == '_')
			*digit = '-';
}

static bool container_match_prefix(struct container_info *c, const char *part, size_t n)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		size_t prefix = strlen(patterns[i].prefix);

		if (n > prefix && !memcmp(part, patterns[i].prefix, prefix) &&
		    container_take_match(c, &patterns[i], part + prefix, n - prefix))
			return true;
	}
	return false;
}

static bool container_match_parent(struct container_info *c, const char *above, size_t above_n,
				   const char *part, size_t n)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (text_is(above, above_n, folders[i].prefix) &&
		    container_take_match(c, &folders[i], part, n))
			return true;
	return false;
}

static size_t suffix_strip(const char *part, size_t n, const char *suffix)
{
	size_t length = strlen(suffix);

	return n > length && !memcmp(part + n - length, suffix, length) ? n - length : n;
}

bool container_of_cgroup(const char *path, struct container_info *c)
{
	const struct pattern pod = { "", "kubernetes", true };
	const char *above = "";
	size_t above_n = 0;
	bool found = false, in_pods = false;

	/* the outermost match counts: the container itself creates cgroups below it */
	for (const char *part = path; *part && !found;) {
		size_t whole, n;

		part += strspn(part, "/");
		whole = strcspn(part, "/");
		n = suffix_strip(part, suffix_strip(part, whole, ".scope"), ".slice");
		if (in_pods)
			container_take_pod(c, part, n);
		found = container_match_prefix(c, part, n) ||
			container_match_parent(c, above, above_n, part, n) ||
			(in_pods && container_take_match(c, &pod, part, n));
		in_pods |= n >= 8 && !memcmp(part, "kubepods", 8);
		above = part;
		above_n = n;
		part += whole;
	}
	if (!found && c->pod[0])
		snprintf(c->engine, sizeof(c->engine), "kubernetes");
	return c->engine[0];
}

void container_of_process(const char *proc, struct container_info *c)
{
	char text[8192];
	char *save = NULL;

	file_read_text(proc, "/cgroup", text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (path && container_of_cgroup(path + 1, c))
			return;
	}
}

static void containerenv_copy(const char *text, const char *key, char *out, size_t size)
{
	size_t n;
	const char *at = text_value(text, key, '=', &n);

	if (at && n >= 2 && *at == '"' && at[n - 1] == '"')
		text_copy(out, size, at + 1, n - 2);
}

/* Reads Podman's file with the container's name. It is empty unless the container is privileged. */
static bool container_from_podman(const char *root, struct container_info *c)
{
	char text[4096];

	if (file_read_text(root, "/run/.containerenv", text, sizeof(text)) < 0)
		return false;
	snprintf(c->engine, sizeof(c->engine), "podman");
	containerenv_copy(text, "id", c->id, sizeof(c->id));
	containerenv_copy(text, "name", c->name, sizeof(c->name));
	containerenv_copy(text, "image", c->image, sizeof(c->image));
	return true;
}

/* Accepts the values of $container that systemd documents. Others may be private. */
static bool container_is_manager(const char *name)
{
	static const char *const names[] = { "docker",      "podman",         "oci",    "lxc",
					     "lxc-libvirt", "systemd-nspawn", "flatpak" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void container_from_environment(struct container_info *c)
{
	static const char *const images[][2] = { { "APPTAINER_CONTAINER", "apptainer" },
						 { "SINGULARITY_CONTAINER", "singularity" } };
	const char *manager = getenv("container");

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		const char *image = getenv(images[i][0]);

		if (!image || !*image)
			continue;
		snprintf(c->engine, sizeof(c->engine), "%s", images[i][1]);
		text_copy(c->image, sizeof(c->image), image, strlen(image));
		return;
	}
	if (getenv("KUBERNETES_SERVICE_HOST"))
		snprintf(c->engine, sizeof(c->engine), "kubernetes");
	else if (manager && container_is_manager(manager))
		snprintf(c->engine, sizeof(c->engine), "%s", manager);
}

/* Checks the PID namespace too, as the file may be a copy, or on the disk of a machine. */
static bool container_has_docker_file(const char *root, const char *proc)
{
	static const char initial[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO of the kernel */
	char path[4096], line[32], namespace[sizeof(initial)];
	ssize_t length;

	if (file_read_text(root, "/.dockerenv", line, sizeof(line)) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/ns/pid", proc);
	length = readlink(path, namespace, sizeof(namespace));
	return length > 0 && ((size_t)length != sizeof(initial) - 1 ||
			      memcmp(namespace, initial, sizeof(initial) - 1) != 0);
}

void container_of_self(const char *root, const char *proc, struct container_info *c)
{
	container_of_process(proc, c);
	if (container_from_podman(root, c) || c->engine[0])
		return;
	container_from_environment(c); /* before files, which are the host's with Apptainer */
	if (c->engine[0])
		return;
	if (container_has_docker_file(root, proc))
		snprintf(c->engine, sizeof(c->engine), "docker");
	else
		file_read_line(root, "/run/systemd/container", c->engine, sizeof(c->engine));
}

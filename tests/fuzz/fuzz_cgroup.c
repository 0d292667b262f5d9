// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of /proc about cgroups: the parts of the input, separated by a byte of 0x1e, are mountinfo,
 * /proc/PID/cgroup and the name of a cgroup to be found.
 */
#include "fuzz.h"

#include "base/cgroup.h"
#include "bpfmon/roles/container.h"
#include "run/meta_cgroup.h"

#include <sys/stat.h>

#define SEPARATOR 0x1e

static const uint8_t *input_take(const uint8_t *at, const uint8_t *end, size_t *n)
{
	const uint8_t *stop = at < end ? memchr(at, SEPARATOR, (size_t)(end - at)) : NULL;

	*n = (size_t)((stop ? stop : end) - at);
	return stop ? stop + 1 : end;
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "we");

	FUZZ_HOLDS(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static void read_mounts(void)
{
	FILE *f = cgroup_mounts_open("self");
	struct cgroup_mount m;

	FUZZ_HOLDS(f);
	while (cgroup_mount_next(f, &m)) {
		FUZZ_HOLDS(memchr(m.root, '\0', sizeof(m.root)));
		FUZZ_HOLDS(memchr(m.point, '\0', sizeof(m.point)));
		cgroup_mount_has(&m, "memory");
		cgroup_path_below("/a/b", m.root);
	}
	fclose(f);
}

static void find_container(const char *name)
{
	struct container c = { .pid = 1 };
	char folder[4096];

	snprintf(c.id, sizeof(c.id), "%s", name);
	container_find_cgroup(".", &c, folder);
}

static void read_meta(const char *name)
{
	struct container_info c = { 0 };
	struct limits l = { 0 };

	container_of_cgroup(name, &c);
	container_of_process("1", &c);
	limits_of_process("self", "1", NULL, &l);
	FUZZ_HOLDS(memchr(c.id, '\0', sizeof(c.id)) && memchr(c.name, '\0', sizeof(c.name)));
	FUZZ_HOLDS(memchr(c.pod, '\0', sizeof(c.pod)));
	FUZZ_HOLDS(memchr(l.cgroup, '\0', sizeof(l.cgroup)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *next;
	struct cgroup_target t;
	char why[512], path[4096], *name;
	bool is_v2;
	size_t n;
	int id;

	mkdir("self", 0755);
	mkdir("1", 0755);
	next = input_take(data, end, &n);
	write_file("self/mountinfo", data, n);
	data = next;
	next = input_take(data, end, &n);
	write_file("self/cgroup", data, n);
	write_file("1/cgroup", data, n);
	name = fuzz_text(next, (size_t)(end - next));

	read_mounts();
	cgroup_of_process("self", "memory", path, &is_v2, &id);
	cgroup_of_process("self", NULL, path, &is_v2, &id);
	memset(&t, 0, sizeof(t));
	if (!cgroup_target_find("self", name, &t, why, sizeof(why)))
		cgroup_target_depth(&t);
	find_container(name);
	read_meta(name);
	free(name);
	return 0;
}

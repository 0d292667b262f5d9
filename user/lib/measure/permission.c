// SPDX-License-Identifier: BSD-2-Clause
#include "measure/permission.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>

static FILE *open_self(const char *proc, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/self/%s", proc, name);
	return memory_fopen(path, "re");
}

/* Reads the value of @key from the status; false: there is none. */
static bool read_status(const char *proc, const char *key, const char *format, uint64_t *value)
{
	__cleanup(fclosep) FILE *f = open_self(proc, "status");
	size_t n = strlen(key);
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n))
			return sscanf(line + n, format, value) == 1;
	return false;
}

/* The initial user namespace maps all users to themselves in one line. */
static bool is_in_a_user_namespace(const char *proc)
{
	__cleanup(fclosep) FILE *f = open_self(proc, "uid_map");
	uint64_t inside, outside, count;

	return f && fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3 &&
	       (inside || outside || count < UINT32_MAX);
}

static bool has_seccomp_filter(const char *proc)
{
	uint64_t mode;

	return read_status(proc, "Seccomp:", "%" SCNu64, &mode) && mode == 2;
}

int permission_check(const char *proc, char *why, size_t size)
{
	const uint64_t admin = 1ULL << CAP_SYS_ADMIN, both = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	uint64_t caps = 0, uid = 1;

	read_status(proc, "CapEff:", "%" SCNx64, &caps);
	read_status(proc, "Uid:", "%*u %" SCNu64, &uid);
	if (!(caps & admin) && (caps & both) != both) {
		snprintf(why, size,
			 "following processes needs root, or CAP_BPF and CAP_PERFMON; %s",
			 uid ? "try sudo bpfmon"
			     : "this root has neither: a container has to be started with "
			       "--privileged, or with these two added");
		return -EPERM;
	}
	if (is_in_a_user_namespace(proc)) {
		snprintf(why, size,
			 "following processes needs root of the machine, and bpfmon runs in a "
			 "user namespace (a rootless container?); start bpfmon outside of it");
		return -EPERM;
	}
	return 0;
}

const char *permission_hint(const char *proc)
{
	if (has_seccomp_filter(proc))
		return "; a seccomp filter may be why: start the container with --privileged or "
		       "--security-opt seccomp=unconfined";
	return NULL;
}

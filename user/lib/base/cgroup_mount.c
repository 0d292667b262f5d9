// SPDX-License-Identifier: BSD-2-Clause
#include "base/cgroup_mount.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	return fopen(path, "re");
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

	while (f && getline(&line, &room, f) > 0) {
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

	while (f && fgets(line, sizeof(line), f)) { /* 4:cpu,memory:/a/b and 0::/a/b */
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
	if (!strncmp(path, "/..", 3)) /* above the root of our namespace of cgroups */
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

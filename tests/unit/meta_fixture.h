/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of files as those of a machine, below a test's own folder. */
#ifndef TESTS_UNIT_META_FIXTURE_H
#define TESTS_UNIT_META_FIXTURE_H

#include "fixture.h"

#include <errno.h>

/* Makes the folders that are missing on the way to @name, too. */
static inline void tree_put(const struct place *p, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	for (char *slash = strchr(path + strlen(p->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
		*slash = '/';
	}
	file_write(path, text);
}

/* The path of a name in the tree; static, until the next one is asked for. */
static inline const char *tree_path(const struct place *p, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	return path;
}

#endif

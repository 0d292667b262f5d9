// SPDX-License-Identifier: BSD-2-Clause
#include "store/file_name.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *uri_of(const char *path, const char *how)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	/* with a folder before it :memory: is a file, too */
	sqlite3_str_appendall(s, path[0] == '/' ? "file:" : "file:./");
	while (path[0] == '/' && path[1] == '/') /* what follows two is taken for a host */
		path++;
	for (; *path; path++)
		if (strchr("%?#", *path))
			sqlite3_str_appendf(s, "%%%02X", (unsigned char)*path);
		else
			sqlite3_str_appendchar(s, 1, *path);
	sqlite3_str_appendf(s, "?%s", how);
	return sqlite3_str_finish(s);
}

bool has_log(const char *path)
{
	char *log = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	bool has = !log || (!stat(log, &st) && st.st_size);

	sqlite3_free(log);
	return has;
}

const char *beside_that_is_no_file(const char *path)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };
	char whole[PATH_MAX], name[PATH_MAX + 16];
	struct stat st;

	if (!realpath(path, whole)) /* SQLite looks beside the file that a link leads to */
		return NULL;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(name, sizeof(name), "%s%s", whole, endings[i]);
		if (!lstat(name, &st) && !S_ISREG(st.st_mode))
			return endings[i];
	}
	return NULL;
}

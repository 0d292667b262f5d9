// SPDX-License-Identifier: BSD-2-Clause
#include "store/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void store_home_folder(char out[STORE_PATH_BYTES], const char *home)
{
	snprintf(out, STORE_PATH_BYTES, "%.3900s/.local/state/bpfmon", home);
}

static void store_folder(char out[STORE_PATH_BYTES], const char *home, bool at_home)
{
	const char *state = at_home ? NULL : getenv("XDG_STATE_HOME");

	if (state && *state == '/' && strlen(state) < 4000) /* others are to be ignored */
		snprintf(out, STORE_PATH_BYTES, "%s/bpfmon", state);
	else
		store_home_folder(out, home);
}

static void store_path(char out[STORE_PATH_BYTES], const char *home, const char *host, bool at_home)
{
	size_t n;

	store_folder(out, home, at_home);
	n = strlen(out);
	snprintf(out + n, STORE_PATH_BYTES - n, "/%.255s.sqlite", *host ? host : "localhost");
	for (char *c = out + n + 1; *c; c++)
		if (*c == '/')
			*c = '_';
}

const char *user_home(const struct user *caller, bool as_root)
{
	static struct user root;
	bool was_sudo = getuid() != caller->uid;
	const char *home = getenv("HOME");

	if (was_sudo && as_root && !user_find("root", &root))
		return root.home;
	return was_sudo || !home || *home != '/' ? caller->home : home;
}

const char *user_store(const struct user *caller, const char *host, bool as_root)
{
	static char path[STORE_PATH_BYTES];

	/* the caller's environment does not choose where root's files are */
	store_path(path, user_home(caller, as_root), host, as_root && user_is_under_sudo());
	return path;
}

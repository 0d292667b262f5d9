// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/libexec.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int libexec_find_self(char *self, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", self, size - 1);

	if (n < 0)
		return -errno;
	self[n] = '\0';
	return strchr(self, '/') ? 0 : -ENOENT;
}

int libexec_find(const char *program, char *path)
{
	static const char *const places[] = { "", "../libexec/bpfmon/" };
	char self[PATH_MAX];

	for (size_t i = 0;
	     !libexec_find_self(self, sizeof(self)) && i < sizeof(places) / sizeof(*places); i++) {
		int folder = (int)(strrchr(self, '/') - self);

		if (snprintf(path, PATH_MAX, "%.*s/%s%s", folder, self, places[i], program) <
			    PATH_MAX &&
		    !access(path, X_OK))
			return 0;
	}
	log_error("%s is neither in the directory of bpfmon nor in ../libexec/bpfmon; build it "
		  "with 'make', install it with 'make install' or its package",
		  program);
	return -ENOENT;
}

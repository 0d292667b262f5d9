// SPDX-License-Identifier: BSD-2-Clause
#include "agent/users.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

void user_name_of(int64_t uid, char *name, size_t size)
{
	FILE *f = uid >= 0 ? fopen("/etc/passwd", "re") : NULL;
	const struct passwd *p = NULL;

	*name = '\0';
	if (uid >= 0)
		snprintf(name, size, "%" PRId64, uid);
	while (f && (p = fgetpwent(f)))
		if (p->pw_uid == (uid_t)uid) {
			snprintf(name, size, "%s", p->pw_name);
			break;
		}
	if (f)
		fclose(f);
}

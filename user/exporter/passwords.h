/* SPDX-License-Identifier: BSD-2-Clause */
/* Users that may read the endpoint, from a file with lines user:hash; hashes as in crypt(5). */
#ifndef EXPORTER_PASSWORDS_H
#define EXPORTER_PASSWORDS_H

#include <stdbool.h>
#include <stddef.h>

struct passwords {
	struct password {
		char *user, *hash; /* owned */
	} * list;
	size_t nr;
};

/*
 * Reads the file, which others must not be able to read (config/user_files.h). Returns 0, or a
 * negative errno with the fault in @why.
 */
int passwords_read(struct passwords *p, const char *path, char *why, size_t size);
/*
 * Returns whether @user has that password. An unknown user takes as long to check as a known one.
 */
bool passwords_check(const struct passwords *p, const char *user, const char *password);
void passwords_done(struct passwords *p);

#endif

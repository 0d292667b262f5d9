/* SPDX-License-Identifier: BSD-2-Clause */
/* The users that may read the endpoint: a file of lines user:hash, with hashes of crypt(5). */
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

/* Reads the file, which others cannot read (config/user_files.h). 0; or a negative errno, and @why
 * is what is wrong with it. */
int passwords_read(struct passwords *p, const char *path, char *why, size_t size);
/* Whether @user has that password. It takes as long for users that there are not. */
bool passwords_check(const struct passwords *p, const char *user, const char *password);
void passwords_done(struct passwords *p);

#endif

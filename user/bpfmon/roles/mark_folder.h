/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of the socket for marks. Its keeper holds a lock on it for as long as it lives, so
 * that the next keeper of the same user knows one that was left by a keeper that was killed, and
 * removes it.
 */
#ifndef ROLES_MARK_FOLDER_H
#define ROLES_MARK_FOLDER_H

#include <stdbool.h>
#include <sys/un.h>

#define MARK_FOLDER_BYTES 40

struct mark_folder {
	int fd; /* holds the lock */
	char name[MARK_FOLDER_BYTES];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket */
};

/*
 * Makes it in the folder @path, makes it the current one, and binds the socket @fd in it.
 * @is_own: only in a folder of the same owner. A negative errno; then nothing is left.
 */
int mark_folder_make(struct mark_folder *f, const char *path, bool is_own, int fd);
/* While it is the current folder. */
void mark_folder_remove(const struct mark_folder *f);
/* Those of other keepers, where it is. */
void mark_folder_remove_left(const struct mark_folder *f);

#endif

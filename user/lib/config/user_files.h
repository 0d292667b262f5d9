/* SPDX-License-Identifier: BSD-2-Clause */
/* Files whose owner and mode are checked: options of the user and the project, and secrets. */
#ifndef CONFIG_USER_FILES_H
#define CONFIG_USER_FILES_H

#include "base/user.h"

#include <stdbool.h>
#include <stddef.h>

#define PROJECT_FILE ".bpfmon"
#define USER_FILE_BYTES (64 << 10) /* limit of a file */
#define USER_FILE_PATH_BYTES 4352

enum user_file_kind { FILE_OF_USER, FILE_OF_PROJECT, NR_USER_FILES };

struct user_file {
	char path[USER_FILE_PATH_BYTES]; /* empty if there is no file */
	char why[USER_FILE_PATH_BYTES +
		 128]; /* why it was not read, a sentence without a full stop; or "" */
	char *text;    /* owned, with a NUL at its end; NULL if not read */
	size_t length;
};

/*
 * Reads both files of the user @u with the home @home: bpfmon/config in XDG_CONFIG_HOME or
 * ~/.config, and PROJECT_FILE in the nearest folder from the working directory upwards, but not
 * above the home or the file system. Files that others than @u and root can write are not read.
 * With @as_other, this process is root's and a child that has become @u reads them. Returns 0, or a
 * negative errno with both absent if out of memory or the child failed.
 */
int user_files_read(struct user_file files[NR_USER_FILES], const struct user *u, const char *home,
		    bool as_other);
void user_files_done(struct user_file files[NR_USER_FILES]);

/*
 * Opens the file @path with a secret (a key, a password): a regular file of root or the caller that
 * others can neither read nor write. Returns a descriptor, which the caller closes, or a negative
 * errno with one sentence in @why, without a full stop (-EPERM: owner or mode).
 */
int secret_open(const char *path, char *why, size_t size);
/*
 * Copies the first line of such a file without its newline into @out, which has @room bytes, and
 * adds a NUL. Errors as above; -EINVAL if it is empty, too long, or contains NUL.
 */
int secret_read(const char *path, char *out, size_t room, char *why, size_t size);

#endif

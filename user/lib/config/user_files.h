/* SPDX-License-Identifier: BSD-2-Clause */
/* Files whose owner and mode are checked: options of the user and the project, and secrets. */
#ifndef CONFIG_USER_FILES_H
#define CONFIG_USER_FILES_H

#include "base/user.h"

#include <stdbool.h>
#include <stddef.h>

#define PROJECT_FILE ".bpfmon"
#define USER_FILE_BYTES (64 << 10) /* no file is larger */
#define USER_FILE_PATH_BYTES 4352

enum user_file_kind { FILE_OF_USER, FILE_OF_PROJECT, NR_USER_FILES };

struct user_file {
	char path[USER_FILE_PATH_BYTES]; /* empty: there is none */
	char why[256];                   /* it is not read: a sentence without a full stop; or "" */
	char *text;                      /* owned, ends with a NUL; NULL: not read */
	size_t length;
};

/*
 * Reads both files of the user @u, whose home is @home: bpfmon/config in XDG_CONFIG_HOME or
 * ~/.config; and PROJECT_FILE in the nearest folder from the working directory upwards that has
 * one, not above the home or the file system. A file that another user than @u and root can write
 * is not read. With @as_other this process is root's and a child that has become @u reads them.
 * 0; or a negative errno, with both absent: memory, or the child.
 */
int user_files_read(struct user_file files[NR_USER_FILES], const struct user *u, const char *home,
		    bool as_other);
void user_files_done(struct user_file files[NR_USER_FILES]);

/* Files with secrets: a private key, a password. */

/*
 * Opens the file at @path for reading: a regular one of root or of the caller, which others cannot
 * read and no other user can write. A descriptor, to be closed; or a negative errno, and in @why
 * one sentence without a full stop (-EPERM: its owner or mode).
 */
int secret_open(const char *path, char *why, size_t size);
/*
 * Copies the first line of such a file, without its end, into @out, which ends with a NUL; @room is
 * that of @out. Errors as above; -EINVAL: it is empty, too long, or has a NUL.
 */
int secret_read(const char *path, char *out, size_t room, char *why, size_t size);

#endif

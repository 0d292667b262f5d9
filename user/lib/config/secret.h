/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with secrets: a private key, a password. */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include <stddef.h>

/*
 * Opens the file at @path for reading: a regular one of root or of the caller, which others cannot
 * read and nobody else can write. A descriptor, to be closed; or a negative errno, and in @why one
 * sentence without a full stop (-EPERM: its owner or mode).
 */
int secret_open(const char *path, char *why, size_t size);
/*
 * Copies the first line of such a file, without its end, into @out, which ends with a NUL; @room is
 * that of @out. Errors as above; -EINVAL: it is empty, too long, or has a NUL.
 */
int secret_read(const char *path, char *out, size_t room, char *why, size_t size);

#endif

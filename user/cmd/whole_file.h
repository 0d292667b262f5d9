/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_WHOLE_FILE_H
#define CMD_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes @text to @path ("-" is stdout), whole or not at all; one that exists only with @force.
 * @what it is says the error, which is told to the user. A negative errno.
 */
int whole_file_write(const char *what, const char *path, bool force, const char *text,
		     size_t length);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A number of bytes through a descriptor, however many calls that takes. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads @bytes from @fd, or writes them; a signal does not end it. False: an error, or the other
 * end has closed before.
 */
bool bytes_pass(int fd, void *bytes, size_t left, bool is_read);
/* Reads @room bytes, fewer only at the end of the file. Their number, or a negative errno. */
ssize_t bytes_read(int fd, char *out, size_t room);

#endif

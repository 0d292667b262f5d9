/* SPDX-License-Identifier: BSD-2-Clause */
/* How a program tells its marks: what both ends of the socket have to agree about. */
#ifndef BASE_MARK_H
#define BASE_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MARK_VARIABLE "BPFMON_MARK_SOCKET" /* in the command's environment: the socket's path */
#define MARK_PREFIX "mark "                /* a datagram that begins so is a mark */
#define MARK_BYTES 1024                    /* of the text, which is the rest of it */

static inline bool mark_is_one(const char *datagram, size_t length)
{
	size_t n = strlen(MARK_PREFIX);

	return length >= n && !memcmp(datagram, MARK_PREFIX, n);
}

#endif

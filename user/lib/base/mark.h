/* SPDX-License-Identifier: BSD-2-Clause */
/* The protocol of marks, shared by both ends of the socket. */
#ifndef BASE_MARK_H
#define BASE_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MARK_VARIABLE "BPFMON_MARK_SOCKET" /* in the command's environment: the socket's path */
#define MARK_PREFIX "mark "                /* a datagram that begins with this is a mark */
#define MARK_BYTES 1024                    /* the limit of the text, the rest of the datagram */

static inline bool mark_is_one(const char *datagram, size_t length)
{
	size_t n = strlen(MARK_PREFIX);

	return length >= n && !memcmp(datagram, MARK_PREFIX, n);
}

#endif

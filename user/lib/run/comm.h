/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's name. */
#ifndef RUN_COMM_H
#define RUN_COMM_H

#include <string.h>

/* Each of the kernel's 15 bytes may be replaced by U+FFFD, which takes three. */
#define COMM_TEXT_BYTES 46

/* Copies no more than @room bytes of @from, ended by NUL; a name that is too long is cut. */
static inline void comm_copy(char to[COMM_TEXT_BYTES], const char *from, size_t room)
{
	size_t n = strnlen(from, room < COMM_TEXT_BYTES ? room : COMM_TEXT_BYTES - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

#endif

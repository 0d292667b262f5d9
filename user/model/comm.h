/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's name. */
#ifndef MODEL_COMM_H
#define MODEL_COMM_H

#include <string.h>

/* Of the kernel's 15 bytes each may be shown as U+FFFD, which takes three. */
#define COMM_TEXT_BYTES 46

/* Of @from at most @room bytes, ended by NUL; what is too long for a name is cut. */
static inline void comm_copy(char to[COMM_TEXT_BYTES], const char *from, size_t room)
{
	size_t n = strnlen(from, room < COMM_TEXT_BYTES ? room : COMM_TEXT_BYTES - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

#endif

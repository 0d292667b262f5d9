/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of the kernel and of the system, read within bounds. */
#ifndef META_FILE_H
#define META_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Up to @size - 1 bytes of the file @path below @root ("": the machine's own), with a NUL behind
 * them. Their number, or a negative errno; @out is empty then.
 */
ssize_t file_read_text(const char *root, const char *path, char *out, size_t size);
/* Its first line, without what is blank around it. A negative errno: it cannot be read, is empty,
 * or has no room in @out; that is empty then. */
int file_read_line(const char *root, const char *path, char *out, size_t size);
/*
 * In @text, whose lines are KEY, blanks, @separator, blanks, VALUE: the first value of @key,
 * not terminated, its length in @n. NULL: there is none.
 */
const char *text_value(const char *text, const char *key, char separator, size_t *n);
/* The same as a number. A negative errno: it is none. */
int text_number(const char *text, const char *key, char separator, uint64_t *value);
/* Copies @n bytes that have room in @out (@size bytes); else @out becomes empty. */
void text_copy(char *out, size_t size, const char *text, size_t n);

#endif

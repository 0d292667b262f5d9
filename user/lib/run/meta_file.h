/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads small files of the kernel and of the system, with a limit. */
#ifndef RUN_META_FILE_H
#define RUN_META_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads up to @size - 1 bytes of the file @path below @root ("": the machine's own) and ends them
 * with a NUL. Returns their number, or a negative errno; @out is empty then.
 */
ssize_t file_read_text(const char *root, const char *path, char *out, size_t size);
/* Reads its first line, without blanks around it. 0, or a negative errno, with @out empty: it
 * cannot be read, is empty, or does not fit into @out. */
int file_read_line(const char *root, const char *path, char *out, size_t size);
/*
 * The first value of @key in @text, which has lines of KEY, blanks, @separator, blanks, VALUE: not
 * terminated, its length in @n. NULL: there is none.
 */
const char *text_value(const char *text, const char *key, char separator, size_t *n);
/* The same as a number. 0, or a negative errno, with @value unchanged: there is none. */
int text_number(const char *text, const char *key, char separator, uint64_t *value);
/* Copies @n bytes to @out (@size bytes) and a NUL; @out becomes empty where they do not fit. */
void text_copy(char *out, size_t size, const char *text, size_t n);

#endif
